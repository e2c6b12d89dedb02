//! When a tumbling ellipsoid meets a ball at rest. `cargo run --release -p carom --example meeting`.

use carom::body::{Body, State};
use carom::motion::Flight;
use carom::shape::Shape;
use carom::toi::{Meeting, Moving, Window, first_contact};
use nalgebra::Vector3;

fn main() {
    let ball = Shape::Sphere { radius: 0.5 };
    let ellipsoid = Shape::Ellipsoid { semi_axes: [1.0, 0.4, 0.2] };
    let homogeneous = |shape: Shape| Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false };

    let standing = State::at(Vector3::zeros());
    let mut flying = State::at(Vector3::new(-4.0, 0.3, 0.0));
    flying.velocity = Vector3::new(1.0, 0.0, 0.0);
    flying.angular_velocity = Vector3::new(0.2, 3.0, 0.1);

    // A flight is prepared once; it can then be asked for any time.
    let gravity = Vector3::zeros();
    let first = Flight::new(&homogeneous(ball), &standing, &gravity);
    let second = Flight::new(&homogeneous(ellipsoid), &flying, &gravity);
    let search =
        first_contact(Moving::new(&ball, &first), Moving::new(&ellipsoid, &second), Window::new(0.0, 10.0));
    match search.meeting {
        Meeting::At(contact) => println!(
            "they meet at t = {} (to {:.1e}), approaching with {:.6}, after {} gaps",
            contact.time, contact.time_error, -contact.approach, search.evaluations
        ),
        Meeting::Apart => println!("they do not meet"),
        Meeting::Overlapping(depth) => println!("they overlap by {depth} from the start"),
        Meeting::Undecided(time) => println!("no contact before t = {time}; then the search gave up"),
    }
}
