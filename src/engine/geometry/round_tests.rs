use super::super::hulls::Hull;
use super::super::poses::{self, Numbers, Solid};
use super::super::round_round;
use super::super::solids::{Capsule, Cuboid, Cylinder, Disc};
use super::*;
use crate::engine::rotation::Orientation;

/// A cylinder or a disc.
trait IsRound: Solid + Copy {
    fn round(&self) -> Round;
    fn scaled(&self, scale: f64) -> Self;
}

impl IsRound for Cylinder {
    fn round(&self) -> Round {
        Round::from(*self)
    }
    fn scaled(&self, scale: f64) -> Cylinder {
        Cylinder { half_axis: self.half_axis * scale, radius: self.radius * scale }
    }
}

impl IsRound for Disc {
    fn round(&self) -> Round {
        Round::from(*self)
    }
    fn scaled(&self, scale: f64) -> Disc {
        Disc { radius: self.radius * scale, ..*self }
    }
}

/// What has parts.
trait HasParts: Solid + Clone {
    fn parts(&self) -> Faceted<'_>;
    fn scaled(&self, scale: f64) -> Self;
}

impl HasParts for Capsule {
    fn parts(&self) -> Faceted<'_> {
        Faceted::Capsule(*self)
    }
    fn scaled(&self, scale: f64) -> Capsule {
        Capsule { half_axis: self.half_axis * scale, radius: self.radius * scale }
    }
}

impl HasParts for Cuboid {
    fn parts(&self) -> Faceted<'_> {
        Faceted::Box(*self)
    }
    fn scaled(&self, scale: f64) -> Cuboid {
        Cuboid { half: self.half * scale }
    }
}

impl HasParts for Hull {
    fn parts(&self) -> Faceted<'_> {
        Faceted::Polyhedron(&self.polyhedron)
    }
    fn scaled(&self, scale: f64) -> Hull {
        Hull::scaled(self, scale)
    }
}

#[derive(Clone)]
struct OnFaces<A, B> {
    first: A,
    second: B,
}

impl<A: IsRound, B: HasParts> poses::Pair for OnFaces<A, B> {
    type First = A;
    type Second = B;
    fn new(first: A, second: B) -> OnFaces<A, B> {
        OnFaces { first, second }
    }
    fn first(&self) -> &A {
        &self.first
    }
    fn second(&self) -> &B {
        &self.second
    }
    fn features<S: Scalar>(
        &self,
        first: &Pose<S>,
        second: &Pose<S>,
        reach: f64,
        found: &mut impl FnMut(Feature, Proximity<S>),
    ) {
        features(&self.first.round(), first, &self.second.parts(), second, reach, found);
    }
    fn at<S: Scalar>(&self, feature: Feature, first: &Pose<S>, second: &Pose<S>) -> Proximity<S> {
        at(feature, &self.first.round(), first, &self.second.parts(), second)
    }
    fn gap<S: Scalar>(&self, first: &Pose<S>, second: &Pose<S>) -> S {
        gap(&self.first.round(), first, &self.second.parts(), second)
    }
    fn nearest(&self, first: &Pose<f64>, second: &Pose<f64>) -> Feature {
        let other = self.second.parts();
        nearest(&self.first.round(), first, &other, second).feature(&other.counts())
    }
}

#[derive(Clone)]
struct BothRound<A, B> {
    first: A,
    second: B,
}

impl<A: IsRound, B: IsRound> poses::Pair for BothRound<A, B> {
    type First = A;
    type Second = B;
    fn new(first: A, second: B) -> BothRound<A, B> {
        BothRound { first, second }
    }
    fn first(&self) -> &A {
        &self.first
    }
    fn second(&self) -> &B {
        &self.second
    }
    fn features<S: Scalar>(
        &self,
        first: &Pose<S>,
        second: &Pose<S>,
        reach: f64,
        found: &mut impl FnMut(Feature, Proximity<S>),
    ) {
        round_round::features(&self.first.round(), first, &self.second.round(), second, reach, found);
    }
    fn at<S: Scalar>(&self, feature: Feature, first: &Pose<S>, second: &Pose<S>) -> Proximity<S> {
        round_round::at(feature, &self.first.round(), first, &self.second.round(), second)
    }
    fn gap<S: Scalar>(&self, first: &Pose<S>, second: &Pose<S>) -> S {
        round_round::gap(&self.first.round(), first, &self.second.round(), second)
    }
    fn nearest(&self, first: &Pose<f64>, second: &Pose<f64>) -> Feature {
        round_round::nearest(&self.first.round(), first, &self.second.round(), second)
    }
}

fn holds<A: IsRound, B: HasParts>() {
    poses::signed_distance::<OnFaces<A, B>>(10_000);
    poses::rates::<OnFaces<A, B>>(1000);
    poses::consistency::<OnFaces<A, B>>(500, 2.0 * SLIVER);
    poses::scales(200, |pair: &OnFaces<A, B>, scale| OnFaces {
        first: pair.first.scaled(scale),
        second: pair.second.scaled(scale),
    });
}

fn hold<A: IsRound, B: IsRound>() {
    poses::signed_distance::<BothRound<A, B>>(10_000);
    poses::rates::<BothRound<A, B>>(1000);
    poses::consistency::<BothRound<A, B>>(500, 2.0 * SLIVER);
    poses::scales(200, |pair: &BothRound<A, B>, scale| BothRound {
        first: pair.first.scaled(scale),
        second: pair.second.scaled(scale),
    });
}

#[test]
fn cylinder_and_box() {
    holds::<Cylinder, Cuboid>();
}

#[test]
fn cylinder_and_capsule() {
    holds::<Cylinder, Capsule>();
}

#[test]
fn cylinder_and_hull() {
    holds::<Cylinder, Hull>();
}

#[test]
fn disc_and_box() {
    holds::<Disc, Cuboid>();
}

#[test]
fn disc_and_capsule() {
    holds::<Disc, Capsule>();
}

#[test]
fn disc_and_hull() {
    holds::<Disc, Hull>();
}

#[test]
fn cylinder_and_cylinder() {
    hold::<Cylinder, Cylinder>();
}

#[test]
fn cylinder_and_disc() {
    hold::<Cylinder, Disc>();
}

#[test]
fn disc_and_disc() {
    hold::<Disc, Disc>();
}
