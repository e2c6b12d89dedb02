//! The files of the page, as they were when the program was built.

/// The page's files, each compressed by gzip, which every browser undoes.
const PAGE: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// A file of the page, compressed, and what kind it is. Names are compared whole: no path leads anywhere else.
pub fn file(name: &str) -> Option<(&'static [u8], &'static str)> {
    let (_, bytes) = PAGE.iter().find(|(own, _)| own.strip_suffix(".gz") == Some(name))?;
    let kind = match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" => "application/json",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    };
    Some((bytes, kind))
}

#[cfg(test)]
mod tests {
    use super::file;

    #[test]
    fn the_page_is_in_the_program() {
        for name in ["index.html", "licences.html", "icon.svg", "assets/index.js", "assets/index.css"] {
            let (bytes, _) = file(name).unwrap_or_else(|| panic!("{name} is missing: `cargo xtask page`"));
            assert!(bytes.starts_with(&[0x1f, 0x8b]), "{name}");
        }
    }

    #[test]
    fn no_name_leads_out_of_the_page() {
        for name in ["", "..", "../Cargo.toml", "/etc/passwd", "assets/../../x", "."] {
            assert!(file(name).is_none(), "{name}");
        }
    }
}
