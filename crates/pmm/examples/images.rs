//! Fit images, draw new ones, fill in a half: `cargo run --release -p pmm --example images -- folder grid.png`; without a folder, of
//! made bars.

use std::error::Error;

use pmm::image::{Data, Fit, ImageArray, grid_png};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let fit = match arguments.next() {
        Some(folder) => Fit::new(Data::open(folder)),
        None => {
            let mut small = pmm::Settings::new();
            small.set("net.width", 8)?;
            Fit::new(bars(80)).settings(&small).steps(60)
        }
    };
    let model = fit.run(&mut ())?;
    let shape = model.images().shape;
    let images: Vec<Vec<u8>> =
        model.sample(16).images()?.map(|image| image.map(|image| image.pixels)).collect::<Result<_, _>>()?;
    if let Some(path) = arguments.next() {
        std::fs::write(path, grid_png(&images, shape, 4)?)?;
    }

    // The right half of the first is taken away and filled in again.
    let [_, height, width] = shape;
    let unknown: Vec<bool> = (0..height * width).map(|pixel| pixel % width >= width / 2).collect();
    let filled = model.inpaint(images[0].clone(), unknown).images()?.next().ok_or("one image")??;
    let same = filled.pixels.iter().zip(&images[0]).enumerate();
    assert!(same.filter(|(i, _)| i % width < width / 2).all(|(_, (a, b))| a == b), "what is known stays");
    println!("{} images of {height}×{width}, and one filled in", images.len());
    Ok(())
}

/// Images of 8×8 pixels with a bar, lying or standing.
fn bars(count: usize) -> ImageArray {
    let pixel = |image: usize, row: usize, column: usize| {
        let (at, across) = (1 + image % 6, if image.is_multiple_of(2) { row } else { column });
        if across == at { 230 } else { 20 }
    };
    let pixels = (0..count)
        .flat_map(|i| (0..8).flat_map(move |row| (0..8).map(move |column| pixel(i, row, column))))
        .collect();
    let classes = vec!["lying".to_owned(), "standing".to_owned()];
    ImageArray { shape: [1, 8, 8], pixels, labels: (0..count).map(|i| i as u32 % 2).collect(), classes }
}
