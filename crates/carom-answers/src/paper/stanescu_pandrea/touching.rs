//! Sections 3, 4 and 6: where an ellipsoid touches a plane, and when.

use carom::gap::gap_to_plane;
use carom::shape::HalfSpace;
use nalgebra::{Matrix3, Vector3};

use super::super::Row;
use super::super::scenes::{self, Case, count};
use super::{semi_axes, turn};
use crate::InputError;

/// The gap between the ellipsoid, its centre at some height, and the first plane.
fn gap_at(case: &Case, height: f64) -> f64 {
    let (body, state) = &case.prepared.instant.bodies[0];
    let mut pose = state.pose();
    pose.translation.vector.z = height;
    gap_to_plane(&body.shape, &pose, &case.prepared.subject.scene.planes[0].half_space).gap
}

/// The least and the greatest of a world coordinate over the body, by the library's gaps to two planes.
fn extremes(case: &Case, axis: &Vector3<f64>) -> [f64; 2] {
    let (body, state) = &case.prepared.instant.bodies[0];
    let gap = |normal: Vector3<f64>| {
        let plane = HalfSpace { normal: nalgebra::Unit::new_unchecked(normal), offset: 0.0 };
        gap_to_plane(&body.shape, &state.pose(), &plane).gap
    };
    [gap(*axis), -gap(-axis)]
}

/// The two fractions that the paper has for the support function: as printed, and the root that it is.
fn reaches(axes: &Vector3<f64>, row: &Vector3<f64>) -> [f64; 2] {
    let squares = axes.component_mul(axes);
    let root = axes.component_mul(row).norm();
    [squares.dot(row) / root, root]
}

fn row_of(a: &Matrix3<f64>, i: usize) -> Vector3<f64> {
    a.row(i).transpose()
}

pub fn horizontal_plane() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::HORIZONTAL_PLANE)?;
    let state = case.prepared.instant.bodies[0].1;
    let (a, axes) = (turn(&case), semi_axes(&case));
    let row = row_of(&a, 2);
    let [printed, reach] = reaches(&axes, &row);
    let z = state.position.z;
    let lambda = 0.5 * reach;
    let squares = axes.component_mul(&axes);
    let body_point = squares.component_mul(&row) / (-2.0 * lambda);
    let contact = &case.prepared.instant.contacts[0];
    let found = a.transpose() * (contact.point - state.position);
    let world = state.position + a * found;
    let shape_sum: f64 = found.component_div(&axes).norm_squared();
    let (apart, cut) = (2.0, 1.0);
    Ok(vec![
        case.row("(36)", "x²/a² + y²/b² + z²/c² at the touching point")
            .printed("", [1.0])
            .computed([shape_sum])
            .agrees(),
        case.row("(37)", "X, Y, Z of the touching point")
            .printed("{R₀} + [A]{r}", world.as_slice())
            .computed(contact.point.as_slice())
            .agrees(),
        case.row("(38), (40)", "x, y, z of the touching point")
            .printed("[A]ᵀ({R} − {R₀})", found.as_slice())
            .computed(case_support(&case, &-Vector3::z()).as_slice())
            .agrees(),
        case.row("(42)–(44), (46), (47)", "x, y, z of the touching point")
            .printed(
                "−a²a₃₁/2λ, −b²a₃₂/2λ, −c²a₃₃/2λ, λ = ½√(a²a₃₁² + b²a₃₂² + c²a₃₃²)",
                body_point.as_slice(),
            )
            .computed(found.as_slice())
            .agrees(),
        case.row("(48)", "Z of the lowest and the highest point")
            .printed("Z₀ ∓ (a²a₃₁ + b²a₃₂ + c²a₃₃)/√(a²a₃₁² + b²a₃₂² + c²a₃₃²)", [z - printed, z + printed])
            .computed(extremes(&case, &Vector3::z()))
            .among(z)
            .wrong(
                [z - reach, z + reach],
                "Z₀ ∓ √(a²a₃₁² + b²a₃₂² + c²a₃₃²); in general the two are not the same",
            ),
        case.row("section 4, a)", "distance with the centre at Z₀ = 2, the lesser of dist₁, dist₂")
            .printed("|αX + βY + γZ + δ|/√(α² + β² + γ²)", [apart - reach])
            .computed([gap_at(&case, apart)])
            .agrees(),
        case.row("section 4, a)", "the same with the centre at Z₀ = 1: the plane cuts the body")
            .printed("|αX + βY + γZ + δ|/√(α² + β² + γ²)", [(cut - reach).abs()])
            .computed([gap_at(&case, cut)])
            .wrong(
                [cut - reach],
                "both dist₁, dist₂ > 0 and yet no gap: the sign is needed, as section 3 has it in Z",
            ),
    ])
}

/// The body's farthest point along a world direction, in body axes, by its support function.
fn case_support(case: &Case, direction: &Vector3<f64>) -> Vector3<f64> {
    let (body, state) = &case.prepared.instant.bodies[0];
    body.shape.support(&state.orientation.inverse_transform_vector(direction))
}

pub fn oblique_plane() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::OBLIQUE_PLANE)?;
    let state = case.prepared.instant.bodies[0].1;
    let contact = &case.prepared.instant.contacts[0];
    let plane = case.prepared.subject.scene.planes[0].half_space;
    let (a, axes) = (turn(&case), semi_axes(&case));
    // The plane as the paper writes it, with a normal of its own length.
    let normal = plane.normal.into_inner() * 3.0;
    let delta = -3.0 * plane.offset;
    let (n, squares) = (normal.norm_squared(), axes.component_mul(&axes));
    let (b, transposed) = (a.transpose() * normal, a * normal);
    let c = normal.dot(&state.position) + delta;
    let reach = |factors: &Vector3<f64>| squares.component_mul(factors).dot(factors).sqrt();
    let point =
        |factors: &Vector3<f64>| state.position - a * (squares.component_mul(factors) / reach(factors));
    let some = Vector3::new(0.3, -0.2, 0.5);
    let somewhere = state.position + a * some;
    // (58) at contact, λ = 0: three times the same equation.
    let singular = Matrix3::from_rows(&[b.transpose(), b.transpose(), b.transpose()]);
    // Away from contact, one unit off: the nearest point by (52) to (55), with the right factors.
    let (h, far) = (reach(&b), c + normal.norm());
    let lambda = (-h * h + h * far.abs()) / n;
    let place = -squares.component_mul(&b) * (far / (lambda * n + h * h));
    let left = b.dot(&place) + far;
    let third = |coordinate: f64| -lambda * coordinate / squares.z * n / b.z;
    Ok(vec![
        case.row("(50), (59)", "distance of the point (0.3, −0.2, 0.5) of the body to the plane")
            .printed(
                "|αX + βY + γZ + δ|/√(α² + β² + γ²)",
                [(normal.dot(&somewhere) + delta).abs() / n.sqrt()],
            )
            .computed([plane.height(&somewhere).abs()])
            .agrees()
            .note("δ_i in (59) is δ"),
        case.row("(56)", "αX + βY + γZ + δ there")
            .printed("B₁x + B₂y + B₃z + C, B₁ = αa₁₁ + βa₂₁ + γa₃₁ and so on", [b.dot(&some) + c])
            .computed([3.0 * plane.height(&somewhere)])
            .agrees(),
        case.row("(52)–(54), (57), (58)", "touching point")
            .printed(
                "factors αa₁₁ + βa₁₂ + γa₁₃, αa₂₁ + βa₂₂ + γa₂₃, αa₃₁ + βa₃₂ + γa₃₃",
                point(&transposed).as_slice(),
            )
            .computed(contact.point.as_slice())
            .wrong(
                point(&b).as_slice(),
                "transposed: B₁, B₂, B₃ of (56); with the printed ones the point is not on the plane",
            ),
        case.row("(57)", "B₁x + B₂y + B₃z + C by the third line, one unit off the plane, with B₃")
            .printed("−(λx/c²)(α² + β² + γ²)/(αa₃₁ + βa₃₂ + γa₃₃)", [third(place.x)])
            .computed([left])
            .misprint([third(place.z)], "z for x"),
        case.row("(58)", "rank of the system at contact, λ = 0")
            .printed("x = x(λ), y = y(λ), z = z(λ):", [3.0])
            .computed([count(singular.rank(1e-12))])
            .wrong(
                [1.0],
                "det = N²λ²(h² + Nλ)/(B₁B₂B₃a²b²c²), N = α² + β² + γ², h² = ΣB²a²: zero at contact, where λ = 0",
            ),
        case.row("(58)", "x, y, z of the nearest point one unit off the plane")
            .computed((-squares.component_mul(&b) / h).as_slice())
            .beyond("−D²B C/(λN + h²), λ = (−h² + h|C|)/N", place.as_slice()),
    ])
}

pub fn section_6() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::TWO_PLANES)?;
    let (body, state) = case.prepared.instant.bodies[0];
    let (a, axes) = (turn(&case), semi_axes(&case));
    let [x, y] = [row_of(&a, 0), row_of(&a, 1)];
    let [printed_y, reach_y] = reaches(&axes, &y);
    let [printed_x, reach_x] = reaches(&axes, &x);
    let mixed = (a[(0, 0)] + a[(1, 1)] + 4.0 * a[(1, 2)]) / reach_x;
    let (x0, y0) = (state.position.x, state.position.y);
    let centre = [x0 - extremes(&case, &Vector3::x())[0], y0 - extremes(&case, &Vector3::y())[0]];
    let lambda = 0.5 * reach_y;
    let touching = Vector3::new(-y.x / (2.0 * lambda), -y.y / (2.0 * lambda), -2.0 * y.z / lambda);
    let found = a.transpose() * (case.prepared.instant.contacts[0].point - state.position);
    let (two, three, six) = (2f64.sqrt(), 3f64.sqrt(), 6f64.sqrt());
    let attitude =
        [0.0, -three / 2.0, 0.5, two / 2.0, -two / 4.0, -six / 4.0, two / 2.0, two / 4.0, six / 4.0];
    let fifth = body.mass / 5.0;
    Ok(vec![
        case.row("section 6", "J_x, J_y, J_z")
            .printed("", [200.0, 200.0, 100.0])
            .computed(body.inertia.as_slice())
            .misprint([fifth * 5.0, fifth * 5.0, fifth * 2.0], "(500, 500, 200) by (1)"),
        case.row("(iii)–(v)", "x, y, z of the touching point of OXZ")
            .printed("−a₂₁/2λ₁, −a₂₂/2λ₁, −2a₂₃/λ₁, λ₁ = ½√(a₂₁² + a₂₂² + 4a₂₃²)", touching.as_slice())
            .computed(found.as_slice())
            .agrees(),
        case.row("(vi)", "Y of the extreme points")
            .printed("Y₀ ∓ (a₂₁ + a₂₂ + 4a₂₃)/√(a₂₁² + a₂₂² + 4a₂₃²)", [y0 - printed_y, y0 + printed_y])
            .computed(extremes(&case, &Vector3::y()))
            .among(y0)
            .wrong([y0 - reach_y, y0 + reach_y], "Y₀ ∓ √(a₂₁² + a₂₂² + 4a₂₃²): the slip of (48)"),
        case.row("(vii)", "X of the extreme points")
            .printed("X₀ ∓ (a₁₁ + a₂₂ + 4a₂₃)/√(a₁₁² + a₁₂² + 4a₁₃²)", [x0 - mixed, x0 + mixed])
            .computed(extremes(&case, &Vector3::x()))
            .among(x0)
            .wrong(
                [x0 - reach_x, x0 + reach_x],
                "X₀ ∓ √(a₁₁² + a₁₂² + 4a₁₃²); besides, a₂₂ and a₂₃ stand for a₁₂ and a₁₃",
            ),
        case.row("(viii)", "Y₀, X₀ of simultaneous contact")
            .printed(
                "|a₂₁ + a₂₂ + 4a₂₃|/√(a₂₁² + a₂₂² + 4a₂₃²), |a₁₁ + a₁₂ + 4a₁₃|/√(a₁₁² + a₁₂² + 4a₁₃²)",
                [printed_y.abs(), printed_x.abs()],
            )
            .computed([centre[1], centre[0]])
            .wrong([reach_y, reach_x], "the roots themselves"),
        case.row("(x), (xi)", "[A] at ψ = 45°, θ = 30°, φ = 90°, by rows")
            .printed("", attitude)
            .computed(a.transpose().as_slice())
            .agrees(),
        case.row("(xii)", "X₀, Y₀ of simultaneous contact")
            .printed(
                "(4 − √3)/√19, (√6 − √2)/√26",
                [(4.0 - three) / 19f64.sqrt(), (six - two) / 26f64.sqrt()],
            )
            .computed(centre)
            .wrong(
                [7f64.sqrt() / 2.0, 34f64.sqrt() / 4.0],
                "√7/2, √34/4; the print is less than the least semi-axis, and does not follow from (viii)",
            ),
    ])
}

pub fn aligned() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::TWO_PLANES_ALIGNED)?;
    let state = case.prepared.instant.bodies[0].1;
    let [x, y] = [Vector3::x(), Vector3::y()].map(|axis| extremes(&case, &axis)[0]);
    Ok(vec![
        case.row("(xiii)–(xvi)", "Y₀, X₀ at ψ = θ = φ = 0")
            .printed("", [1.0, 1.0])
            .computed([state.position.y - y, state.position.x - x])
            .agrees()
            .note("the attitude; the motion need not be a translation"),
    ])
}
