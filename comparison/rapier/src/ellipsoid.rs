//! An ellipsoid for Parry, which has none: Σ (xᵢ/aᵢ)² ≤ 1, by its support point aᵢ² dᵢ / √Σ (aⱼ dⱼ)².
//!
//! Against a half-space Parry asks for the face that is deepest. Here that is the one support point, so that the contact is exact.

use rapier3d_f64::parry::bounding_volume::details::local_support_map_aabb;
use rapier3d_f64::parry::bounding_volume::{Aabb, BoundingSphere};
use rapier3d_f64::parry::mass_properties::MassProperties;
use rapier3d_f64::parry::math::{Real, Vector};
use rapier3d_f64::parry::query::details::{
    local_point_projection_on_support_map, local_ray_intersection_with_support_map_with_params,
};
use rapier3d_f64::parry::query::gjk::VoronoiSimplex;
use rapier3d_f64::parry::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};
use rapier3d_f64::parry::shape::{
    FeatureId, PackedFeatureId, PolygonalFeature, PolygonalFeatureMap, Shape, ShapeType, SupportMap,
    TypedShape,
};

#[derive(Clone, Copy)]
pub struct Ellipsoid {
    pub semi_axes: Vector,
}

impl SupportMap for Ellipsoid {
    fn local_support_point(&self, direction: Vector) -> Vector {
        let scaled = self.semi_axes * direction;
        self.semi_axes * scaled / scaled.length()
    }
}

impl PolygonalFeatureMap for Ellipsoid {
    fn local_support_feature(&self, direction: Vector, feature: &mut PolygonalFeature) {
        feature.vertices[0] = self.local_support_point(direction);
        feature.vids[0] = PackedFeatureId::vertex(0);
        feature.fid = PackedFeatureId::face(0);
        feature.num_vertices = 1;
    }
}

impl RayCast for Ellipsoid {
    fn cast_local_ray_and_get_normal(
        &self,
        ray: &Ray,
        longest: Real,
        solid: bool,
    ) -> Option<RayIntersection> {
        local_ray_intersection_with_support_map_with_params(
            self,
            &mut VoronoiSimplex::new(),
            ray,
            longest,
            solid,
        )
    }
}

impl PointQuery for Ellipsoid {
    fn project_local_point(&self, point: Vector, solid: bool) -> PointProjection {
        local_point_projection_on_support_map(self, &mut VoronoiSimplex::new(), point, solid)
    }

    fn project_local_point_and_get_feature(&self, point: Vector) -> (PointProjection, FeatureId) {
        (self.project_local_point(point, false), FeatureId::Unknown)
    }
}

impl Shape for Ellipsoid {
    fn compute_local_aabb(&self) -> Aabb {
        local_support_map_aabb(self)
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        BoundingSphere::new(Vector::ZERO, self.semi_axes.max_element())
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(*self)
    }

    fn scale_dyn(&self, scale: Vector, _: u32) -> Option<Box<dyn Shape>> {
        Some(Box::new(Ellipsoid { semi_axes: self.semi_axes * scale.abs() }))
    }

    fn mass_properties(&self, density: Real) -> MassProperties {
        let square = self.semi_axes * self.semi_axes;
        let mass = density * 4.0 / 3.0 * std::f64::consts::PI * self.semi_axes.element_product();
        let inertia = Vector::new(square.y + square.z, square.z + square.x, square.x + square.y) * mass / 5.0;
        MassProperties::new(Vector::ZERO, mass, inertia)
    }

    fn shape_type(&self) -> ShapeType {
        ShapeType::Custom
    }

    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::Custom(self)
    }

    fn ccd_thickness(&self) -> Real {
        self.semi_axes.min_element()
    }

    fn ccd_angular_thickness(&self) -> Real {
        std::f64::consts::FRAC_PI_8
    }

    fn is_convex(&self) -> bool {
        true
    }

    fn as_support_map(&self) -> Option<&dyn SupportMap> {
        Some(self)
    }

    fn as_polygonal_feature_map(&self) -> Option<(&dyn PolygonalFeatureMap, Real)> {
        Some((self, 0.0))
    }
}
