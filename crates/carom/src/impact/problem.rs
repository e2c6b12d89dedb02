//! The impact problem as given: matrices, rows and what each row is.

use nalgebra::{DMatrix, DVector};
use serde::Serialize;

pub use crate::contact::Surface;
use crate::error::{Error, Fault, Place, RowRole};

/// One instant of impact in generalised velocities (G, A, N, v⁻, K of NOTATION.md).
///
/// Every row of [`contacts`](Self::contacts) is a unilateral normal (y = N v, y < 0 closing, impulse p ≥ 0)
/// unless it is named in [`tangential`](Self::tangential), [`rough`](Self::rough) or
/// [`friction`](Self::friction).
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Mass matrix G, n×n, symmetric positive definite.
    pub mass: DMatrix<f64>,
    /// Bilateral rows A, k×n: A v = 0 before and after. Dependent rows are fine.
    pub bilateral: DMatrix<f64>,
    /// Contact rows N, r×n.
    pub contacts: DMatrix<f64>,
    /// Velocity before the impact, n.
    pub velocity: DVector<f64>,
    /// Coefficient of restitution of each contact row: in [0, 1] for a normal, in [−1, 1] for a tangent of a
    /// rough contact (1 reverses the slip, 0 stops it, −1 leaves it), unused for a tangent with friction.
    pub restitution: Vec<f64>,
    /// Tangential rows of a rough surface that are not tied to one normal: equalities, impulses of any sign.
    /// With one normal they belong to it; with several they act whenever any of the normals does.
    pub tangential: Vec<usize>,
    /// Rough contacts: a normal with its own tangential rows.
    pub rough: Vec<Rough>,
    /// Contacts with Coulomb friction.
    pub friction: Vec<Friction>,
}

/// A rough contact: the tangential rows act when the normal does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rough {
    /// The normal's row.
    pub normal: usize,
    /// The tangents' rows.
    pub tangent: Vec<usize>,
}

/// A contact with Coulomb friction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Friction {
    /// The normal's row.
    pub normal: usize,
    /// The rows of one tangent (planar) or two tangents. Two are the velocities along two perpendicular unit
    /// directions: the friction cone is round in them.
    pub tangent: Vec<usize>,
    /// The coefficient of friction μ ≥ 0.
    pub coefficient: f64,
}

/// A contact: its normal, its tangents and its surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Contact {
    /// The normal's row.
    pub normal: usize,
    /// The tangents' rows.
    pub tangent: Vec<usize>,
    /// What the surface does.
    pub surface: Surface,
}

impl Contact {
    /// The contact's rows, the normal first.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(self.normal).chain(self.tangent.iter().copied())
    }
}

impl Problem {
    /// Smooth contacts between otherwise free coordinates, restitution zero; the fields are public to say more.
    #[must_use]
    pub fn new(mass: DMatrix<f64>, contacts: DMatrix<f64>, velocity: DVector<f64>) -> Self {
        let (rows, n) = (contacts.nrows(), mass.nrows());
        Self {
            mass,
            bilateral: DMatrix::zeros(0, n),
            contacts,
            velocity,
            restitution: vec![0.0; rows],
            tangential: Vec::new(),
            rough: Vec::new(),
            friction: Vec::new(),
        }
    }

    /// The same problem with one coefficient of restitution for every row.
    #[must_use]
    pub fn with_restitution(mut self, restitution: f64) -> Self {
        self.restitution = vec![restitution; self.contacts.nrows()];
        self
    }

    /// The contacts: every normal row with its tangents. Tangential rows tied to no normal belong to the only
    /// one there is; with several normals they belong to none and act with all.
    #[must_use]
    pub fn contact_list(&self) -> Vec<Contact> {
        let mut is_tangent = vec![false; self.contacts.nrows()];
        let tied =
            self.rough.iter().flat_map(|c| &c.tangent).chain(self.friction.iter().flat_map(|c| &c.tangent));
        for &row in self.tangential.iter().chain(tied) {
            is_tangent[row] = true;
        }
        let mut list: Vec<Contact> = (0..self.contacts.nrows())
            .filter(|&row| !is_tangent[row])
            .map(|normal| self.contact_of(normal))
            .collect();
        if let [only] = list.as_mut_slice()
            && !self.tangential.is_empty()
            && only.surface == Surface::Smooth
        {
            only.tangent.clone_from(&self.tangential);
            only.surface = Surface::Rough;
        } else if let [only] = list.as_mut_slice()
            && only.surface == Surface::Rough
        {
            only.tangent.extend(&self.tangential);
        }
        list
    }

    fn contact_of(&self, normal: usize) -> Contact {
        if let Some(c) = self.friction.iter().find(|c| c.normal == normal) {
            Contact { normal, tangent: c.tangent.clone(), surface: Surface::Coulomb(c.coefficient) }
        } else if let Some(c) = self.rough.iter().find(|c| c.normal == normal) {
            Contact { normal, tangent: c.tangent.clone(), surface: Surface::Rough }
        } else {
            Contact { normal, tangent: Vec::new(), surface: Surface::Smooth }
        }
    }

    /// Everything that makes the problem meaningless, in the order of the fields; empty when it can be solved.
    /// Positive definiteness and the velocity's agreement with the bilateral rows are found by solving.
    #[must_use]
    pub fn faults(&self) -> Vec<Error> {
        let mut faults = Vec::new();
        let n = self.mass.nrows();
        if n == 0 {
            faults.push(Error::new(Place::field("mass"), Fault::Empty));
        }
        let mut size = |place: Place, what: &'static str, found: usize, expected: usize| {
            if found != expected {
                faults.push(Error::new(place, Fault::Size { what, found, expected }));
            }
        };
        size(Place::field("mass"), "columns", self.mass.ncols(), n);
        size(Place::field("bilateral"), "columns", self.bilateral.ncols(), n);
        size(Place::field("contacts"), "columns", self.contacts.ncols(), n);
        size(Place::field("velocity"), "entries", self.velocity.len(), n);
        size(Place::field("restitution"), "entries", self.restitution.len(), self.contacts.nrows());
        for (field, matrix) in
            [("mass", &self.mass), ("bilateral", &self.bilateral), ("contacts", &self.contacts)]
        {
            for i in 0..matrix.nrows() {
                for j in 0..matrix.ncols() {
                    not_finite(&mut faults, Place::entry(field, i, j), matrix[(i, j)]);
                }
            }
        }
        for (i, &value) in self.velocity.iter().enumerate() {
            not_finite(&mut faults, Place::row("velocity", i), value);
        }
        for (i, &value) in self.restitution.iter().enumerate() {
            not_finite(&mut faults, Place::row("restitution", i), value);
        }
        if faults.is_empty() {
            self.role_faults(&mut faults);
        }
        faults
    }

    /// Faults in what the rows are said to be, and in the coefficients that depend on it.
    fn role_faults(&self, faults: &mut Vec<Error>) {
        let rows = self.contacts.nrows();
        let mut roles: Vec<Option<RowRole>> = vec![None; rows];
        let mut take = |place: Place, index: usize, role: RowRole| match roles.get_mut(index) {
            None => faults.push(Error::new(place, Fault::NoSuchRow { index, rows })),
            Some(Some(role)) => faults.push(Error::new(place, Fault::RowTaken { index, role: *role })),
            Some(free) => *free = Some(role),
        };
        for (i, &row) in self.tangential.iter().enumerate() {
            take(Place::row("tangential", i), row, RowRole::Tangential);
        }
        for (i, contact) in self.rough.iter().enumerate() {
            take(Place::row("rough", i), contact.normal, RowRole::RoughNormal);
            for &row in &contact.tangent {
                take(Place::row("rough", i), row, RowRole::RoughTangent);
            }
        }
        for (i, contact) in self.friction.iter().enumerate() {
            take(Place::row("friction", i), contact.normal, RowRole::FrictionNormal);
            for &row in &contact.tangent {
                take(Place::row("friction", i), row, RowRole::FrictionTangent);
            }
        }
        if !self.tangential.is_empty() && !self.friction.is_empty() {
            faults.push(Error::new(Place::field("tangential"), Fault::LooseTangents));
        }
        for (i, contact) in self.friction.iter().enumerate() {
            if !(1..=2).contains(&contact.tangent.len()) {
                let fault = Fault::Size { what: "tangents", found: contact.tangent.len(), expected: 2 };
                faults.push(Error::new(Place::row("friction", i), fault));
            }
            if !(contact.coefficient.is_finite() && contact.coefficient >= 0.0) {
                let fault =
                    Fault::Range { value: contact.coefficient, expected: "a finite coefficient ≥ 0" };
                faults.push(Error::new(Place::row("friction", i), fault));
            }
        }
        for (i, &value) in self.restitution.iter().enumerate() {
            let tangent = roles[i].is_some_and(RowRole::is_tangent);
            let (low, expected) = if tangent {
                (-1.0, "between -1 and 1 for a tangential row")
            } else {
                (0.0, "between 0 and 1 for a normal")
            };
            if !(low..=1.0).contains(&value) {
                faults.push(Error::new(Place::row("restitution", i), Fault::Range { value, expected }));
            }
        }
    }
}

fn not_finite(faults: &mut Vec<Error>, place: Place, value: f64) {
    if !value.is_finite() {
        faults.push(Error::new(place, Fault::NotFinite { value }));
    }
}
