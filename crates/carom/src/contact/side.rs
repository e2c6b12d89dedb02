//! What touches in a contact, and how its surface responds.

/// One side of a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(serde::Serialize, serde::Deserialize))]
pub enum Side {
    /// The body of this number.
    Body(usize),
    /// The plane of this number.
    Plane(usize),
}

/// How the surface answers along the tangent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Surface {
    /// No tangential impulse.
    Smooth,
    /// No slip, elastic along the tangent: y_t⁺ = −e_t y_t⁻, with e_t the contact's restitution unless given by row.
    Rough,
    /// Coulomb friction with this coefficient.
    Coulomb(f64),
}
