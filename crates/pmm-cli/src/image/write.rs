//! Images on their way out.

use std::io::IsTerminal;

use anyhow::bail;
use pmm_data::grid_png;

use crate::cli::Output;
use crate::files;
use crate::output::{self, Advice};

/// Writes images: to a grid in one file or on standard output, or to a file each in a folder.
pub(super) fn write(images: &[Vec<u8>], shape: [usize; 3], to: &Output) -> anyhow::Result<()> {
    let Some(path) = &to.out else { return output::print(&grid(images, shape)?) };
    if path.extension().is_some() && !path.is_dir() {
        return files::write(path, &grid(images, shape)?);
    }
    files::make_folder(path)?;
    for (index, image) in images.iter().enumerate() {
        let png = grid_png(std::slice::from_ref(image), shape, 1)?;
        files::write(&path.join(format!("{index:06}.png")), &png)?;
    }
    Ok(())
}

/// Images in a square, or nearly.
pub(super) fn grid(images: &[Vec<u8>], shape: [usize; 3]) -> anyhow::Result<Vec<u8>> {
    let columns = (images.len() as f64).sqrt().ceil() as usize;
    Ok(grid_png(images, shape, columns.max(1))?)
}

/// Refuses what cannot be written before anything is drawn.
pub(super) fn check(to: &Output) -> anyhow::Result<()> {
    if to.format.is_some() {
        bail!(Advice::new("images are written as PNG".into(), "leave out --format"));
    }
    match &to.out {
        None if std::io::stdout().is_terminal() => bail!(Advice::new(
            "a picture is not for the terminal".into(),
            "--out grid.png for one picture of all, --out folder for a file each"
        )),
        Some(path) if !path.is_dir() && path.extension().is_some_and(|e| !e.eq_ignore_ascii_case("png")) => {
            bail!(Advice::new(
                format!("{} is not named .png", path.display()),
                "--out grid.png for one picture of all, --out folder for a file each"
            ))
        }
        _ => Ok(()),
    }
}
