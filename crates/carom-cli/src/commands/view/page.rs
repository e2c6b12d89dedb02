//! The files of the page, and the gallery's scenes, as they were when the program was built.

use carom_answers::page::Exhibit;

/// The page's files; none in a program that was built without it.
const PAGE: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

const GALLERY: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/gallery.rs"));

/// Whether the program has a page.
pub fn is_there() -> bool {
    file("index.html").is_some()
}

/// A file of the page, and what kind it is. Names are compared whole: no path leads anywhere else.
pub fn file(name: &str) -> Option<(&'static [u8], &'static str)> {
    let (_, bytes) = PAGE.iter().find(|(own, _)| *own == name)?;
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

/// All scenes of the gallery.
pub fn gallery() -> Vec<Exhibit> {
    let exhibit = |(name, bytes): &(&'static str, &'static [u8])| {
        Exhibit::of(name.strip_suffix(".toml")?, std::str::from_utf8(bytes).ok()?)
    };
    let mut exhibits: Vec<Exhibit> = GALLERY.iter().filter_map(exhibit).collect();
    // What no other engine shows comes first, the rest by name.
    exhibits.sort_by_key(|exhibit| exhibit.id != "paradox");
    exhibits
}

#[cfg(test)]
mod tests {
    use super::{GALLERY, file, gallery};

    #[test]
    fn every_scene_of_the_gallery_has_its_point() {
        let exhibits = gallery();
        assert_eq!(exhibits.len(), GALLERY.len());
        assert!(exhibits.len() >= 12);
        assert!(exhibits.iter().all(|exhibit| exhibit.point.len() > 20 && !exhibit.title.is_empty()));
    }

    #[test]
    fn no_name_leads_out_of_the_page() {
        for name in ["", "..", "../Cargo.toml", "/etc/passwd", "assets/../../x", "."] {
            assert!(file(name).is_none(), "{name}");
        }
    }
}
