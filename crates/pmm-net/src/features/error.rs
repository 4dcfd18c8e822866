//! Why a feature network cannot be had or asked.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A feature network that cannot be loaded, or images that it cannot read.
#[derive(Debug, Error)]
pub enum FeatureError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of PyTorch that is damaged or holds what is not understood, or another zip archive or pickle.
    #[error("{} looks like a file of PyTorch, but cannot be read as one: {reason}", path.display())]
    Pytorch {
        /// The file.
        path: PathBuf,
        /// What its reader says.
        reason: String,
    },
    /// Not the weights of a network that is known.
    #[error("{} has no weights of a feature network: {reason}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// The violated condition.
        reason: String,
    },
    /// Images that are not what their shape says.
    #[error("features cannot be made of image {index}: {reason}")]
    Image {
        /// Its place among those given.
        index: usize,
        /// The violated condition.
        reason: String,
    },
    /// A network that tells no classes.
    #[error("{network} tells no classes of CIFAR-10")]
    NoClasses {
        /// The network.
        network: String,
    },
}

impl FeatureError {
    /// What the user can do, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Pytorch { path, .. } => Some(conversion(path)),
            Self::Weights { .. } => Some(
                "safetensors and files of PyTorch (.pth) are read of ResNet for CIFAR-10, EfficientNet-Lite0 and the \
                 Inception v3 of FID, with the names that PyTorch has for their tensors"
                    .into(),
            ),
            Self::NoClasses { .. } => Some("give the weights of a ResNet for CIFAR-10".into()),
            Self::Io { .. } | Self::Image { .. } => None,
        }
    }
}

/// How a file of PyTorch becomes safetensors.
fn conversion(path: &Path) -> String {
    let file = path.display();
    let to = path.with_extension("safetensors");
    format!(
        "if it is cut short, fetch it again; if PyTorch itself reads it, convert it once, in Python:\n  \
         import torch, safetensors.torch\n  \
         tensors = torch.load({:?}, map_location=\"cpu\", weights_only=True)\n  \
         safetensors.torch.save_file({{k: v.contiguous() for k, v in tensors.items()}}, {:?})",
        file.to_string(),
        to.display().to_string()
    )
}
