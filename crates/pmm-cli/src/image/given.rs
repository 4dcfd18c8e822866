//! What is given of an image: its class, or some of its pixels.

use std::path::Path;

use anyhow::bail;
use pmm_core::{Elements, States, Values};
use pmm_data::read_image;
use pmm_train::ImageModel;

use crate::cli::SampleArgs;
use crate::output::Advice;

/// Bytes from here on are bright: pixels of a mask that are to be filled in.
const BRIGHT: u8 = 128;

#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) label: Option<u32>,
    /// The image in the pair's unit, and which of its pixels are to be filled in.
    image: Option<(Vec<f32>, Vec<bool>)>,
}

impl Given {
    pub(super) fn read(args: &SampleArgs, model: &ImageModel) -> anyhow::Result<Self> {
        let mut given = Self::default();
        let mut file = None;
        for text in &args.given {
            match text.split_once('=') {
                Some(("label" | "class", name)) => given.label = Some(class(model, name)?),
                Some((key, _)) if !Path::new(text).exists() => bail!(Advice::new(
                    format!("--given {key}=… is not understood: images have a label, no columns"),
                    "--given label=CLASS, or --given IMAGE.png --mask MASK.png"
                )),
                _ if file.is_some() => bail!("--given names two images"),
                _ => file = Some(Path::new(text)),
            }
        }
        given.image = match (file, &args.picturing.mask) {
            (None, None) => None,
            (Some(file), Some(mask)) => Some(pixels(model, file, mask)?),
            (Some(file), None) => bail!(Advice::new(
                format!("it is not said which pixels of {} are to be filled in", file.display()),
                "--mask FILE: a picture of the same size, bright where pixels are unknown"
            )),
            (None, Some(mask)) => bail!(Advice::new(
                format!("the mask {} has no image", mask.display()),
                "--given FILE: the image that is to be filled in"
            )),
        };
        Ok(given)
    }

    /// Whether the pixels speak for themselves: they are given, no class is, and the network has learned to do without one.
    pub(super) fn needs_no_class(&self, model: &ImageModel) -> bool {
        self.image.is_some() && self.label.is_none() && model.config.label_dropout > 0.0
    }

    /// So many images from this number on: unknown but for the pixels that are given.
    pub(super) fn states(&self, model: &ImageModel, first: u64, rows: usize) -> anyhow::Result<States> {
        let mut states = States::prior(model.denoiser.net().space(), first, rows);
        if let Some((x, unknown)) = &self.image {
            let values = Values::new(vec![Elements::from(x.repeat(rows))]);
            states.observe(&values, |_, _, c| !unknown[c % unknown.len()])?;
        }
        Ok(states)
    }
}

fn class(model: &ImageModel, name: &str) -> anyhow::Result<u32> {
    let classes = &model.images.classes;
    if classes.is_empty() {
        bail!(Advice::new("the images of this model have no classes".into(), "leave out --given label=…"));
    }
    match classes.iter().position(|class| class == name.trim()) {
        Some(class) => Ok(class as u32),
        None => {
            let some: Vec<&str> = classes.iter().take(20).map(String::as_str).collect();
            bail!(Advice::new(
                format!("there is no class {:?}", name.trim()),
                format!("classes are {}{}", some.join(", "), if classes.len() > 20 { ", …" } else { "" })
            ))
        }
    }
}

fn pixels(model: &ImageModel, file: &Path, mask: &Path) -> anyhow::Result<(Vec<f32>, Vec<bool>)> {
    let net = model.denoiser.net();
    if !net.sees_observed() {
        bail!(Advice::new(
            "this model has not learned to fill in images: it was fitted with observed = 0".into(),
            "fit one with --set observed=0.2"
        ));
    }
    let [channels, height, width] = net.shape();
    let image = read_image(file, [channels, height, width])?;
    let unknown: Vec<bool> =
        read_image(mask, [1, height, width])?.into_iter().map(|byte| byte >= BRIGHT).collect();
    if !unknown.contains(&true) {
        bail!(Advice::new(
            format!("{} is dark everywhere, so there is nothing to fill in", mask.display()),
            "paint the unknown pixels white"
        ));
    }
    Ok((image.into_iter().map(|byte| net.pair().value(byte)).collect(), unknown))
}
