//! Where networks compute: the processor, or a graphics card if the program was built for one.

use burn::tensor::Device;

/// The names that [`device`] takes.
pub const DEVICES: [&str; 3] = ["cpu", "wgpu", "cuda"];

/// Why a device cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The program was built without it.
    #[error("this pmm was built without {0}")]
    NotBuilt(String),
    /// The machine has none.
    #[error("no device for {0} was found{1}")]
    NotFound(String, String),
    /// No such name.
    #[error("no device is called {0}")]
    Unknown(String),
}

impl DeviceError {
    /// What to do.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotBuilt(name) => format!("build it with cargo build --release --features {name}"),
            Self::NotFound(..) => "the device cpu computes on the processor".to_owned(),
            Self::Unknown(_) => format!("there are {}", DEVICES.join(", ")),
        })
    }
}

/// The device of a name: `cpu`, or `wgpu` and `cuda` in builds with these features.
///
/// ```
/// assert!(pmm_net::device("cpu").is_ok() && pmm_net::device("abacus").is_err());
/// ```
pub fn device(name: &str) -> Result<Device, DeviceError> {
    match name {
        "cpu" => Ok(Device::flex()),
        "wgpu" => wgpu(),
        "cuda" => cuda(),
        _ => Err(DeviceError::Unknown(name.to_owned())),
    }
}

/// Whether networks on a device are computed by the kernels of `ops/`, rather than by their compositions on Burn.
pub(crate) fn is_fused(device: &Device) -> bool {
    !cfg!(feature = "plain") && *device == Device::flex()
}

#[cfg(feature = "wgpu")]
pub(crate) fn wgpu() -> Result<Device, DeviceError> {
    let found = Device::wgpu_options().init();
    found.map_err(|error| DeviceError::NotFound("wgpu".to_owned(), format!(" ({error})")))
}

#[cfg(not(feature = "wgpu"))]
fn wgpu() -> Result<Device, DeviceError> {
    Err(DeviceError::NotBuilt("wgpu".to_owned()))
}

#[cfg(feature = "cuda")]
fn cuda() -> Result<Device, DeviceError> {
    let found = Device::enumerate(burn::tensor::DeviceType::Cuda).into_vec().into_iter().next();
    found.ok_or_else(|| DeviceError::NotFound("cuda".to_owned(), String::new()))
}

#[cfg(not(feature = "cuda"))]
fn cuda() -> Result<Device, DeviceError> {
    Err(DeviceError::NotBuilt("cuda".to_owned()))
}
