//! A small table, text and set of images, each with the settings of a fit that is over in a blink.

use pmm_core::{Purpose, Streams};
use pmm_data::grid_png;

use crate::common::{Place, pets, pick};

/// A kind of data.
pub(crate) struct Example {
    /// The data's file or folder.
    pub(crate) data: &'static str,
    /// Settings of a quick fit.
    pub(crate) settings: &'static str,
    /// A short sample.
    pub(crate) sample: &'static str,
}

pub(crate) const EXAMPLES: [Example; 3] = [
    Example {
        data: "pets.csv",
        settings: "--steps 40 --set net.width=16 --set net.blocks=1 --set train.validate_every=10",
        sample: "-n 20",
    },
    Example {
        data: "book.txt",
        settings: "--steps 16 --set batch=4 --set net.width=16 --set net.blocks=1 --set net.heads=2 --set net.length=32 \
                   --set net.condition=8 --set train.validate_every=8",
        sample: "-n 2",
    },
    Example {
        data: "shapes",
        settings: "--steps 8 --set batch=4 --set net.width=8 --set net.multipliers=[1,2] --set train.validate_every=4",
        sample: "-n 2 --steps 2 --out -",
    },
];

/// A folder with the data of all examples.
pub(crate) fn place() -> Place {
    let place = Place::new();
    place.write("pets.csv", pets(120));
    let sentence = |row: u64| {
        let mut rng = Streams::new(2).stream(Purpose::custom(401), 0, row);
        let (who, what) = (pick(&mut rng, &["cat", "dog", "fish"]), pick(&mut rng, &["sees", "eats"]));
        format!("the {who} {what} the mouse.\n")
    };
    place.write("book.txt", (0..200).map(sentence).collect::<String>());
    std::fs::create_dir(place.path("shapes")).unwrap();
    for row in 0..24 {
        let mut rng = Streams::new(4).stream(Purpose::custom(402), 0, row);
        let pixels = (0..64).map(|_| rng.below(256) as u8).collect();
        place.write(&format!("shapes/{row:02}.png"), grid_png(&[pixels], [1, 8, 8], 1).unwrap());
    }
    place
}
