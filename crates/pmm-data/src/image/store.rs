//! What all kinds of storage have in common: images in an order, some with a class.

use std::fmt::Debug;

use super::error::ImageDataError;
use super::picture::Picture;

/// What is known of an image before it is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) grey: bool,
    /// Whether its pixels say how opaque they are.
    pub(super) opacity: bool,
}

/// An image on its way.
#[derive(Debug)]
pub(super) struct Item<'a> {
    /// Its file, for messages.
    pub(super) file: &'a str,
    pub(super) picture: Picture,
    /// Its place in [`Store::classes`].
    pub(super) label: Option<u32>,
}

/// Takes images one at a time.
pub(super) type Sink<'a> = dyn FnMut(Item<'_>) -> Result<(), ImageDataError> + 'a;

/// Takes a file's name and the look of its images.
pub(super) type See<'a> = dyn FnMut(&str, Look) -> Result<(), ImageDataError> + 'a;

/// Images as they are stored.
pub(super) trait Store: Debug + Send + Sync {
    /// How many images there are.
    fn count(&self) -> u64;

    /// The names of the classes; none if no image has a label.
    fn classes(&self) -> &[String];

    /// What a person should know of how they were found.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Shows what images look like, file by file.
    fn looks(&self, see: &mut See<'_>) -> Result<(), ImageDataError>;

    /// Hands out all images, in order.
    fn read(&self, sink: &mut Sink<'_>) -> Result<(), ImageDataError>;
}
