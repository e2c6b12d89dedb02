//! Where a library that Python loads needs words of its own for the linker, as on macOS, says them.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
