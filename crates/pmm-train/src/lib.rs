//! Training for Posterior Mean Matching: a loop over any [`Task`], AdamW with an average of the weights, early stopping,
//! and checkpoints ([`pmm_store`]) from which a killed run goes on bit for bit.
//!
//! The loop knows no network: a task turns weights and a batch into a loss and its gradient, all of them plain `f32`
//! buffers. [`TableTask`] is the one for tables, [`TextTask`] the one for texts, [`ImageTask`] the one for images. A batch is a function of the step's number only, so that a run is a function of (task, config, state).

mod adamw;
mod augment;
mod config;
mod fit_config;
mod image;
mod image_config;
mod image_model;
mod judge;
mod log;
mod model;
mod run;
mod table;
mod text;
mod text_config;
mod text_model;

pub use config::TrainConfig;
pub use fit_config::FitConfig;
pub use image::{ImageTask, split_images};
pub use image_config::{IMAGE_PRESETS, ImageConfig, ImageKind};
pub use image_model::{
    ImageFacts, ImageModel, image_identity, image_network, is_image_model, load_image_settings,
    save_image_settings,
};
pub use judge::load_gpt2;
pub use log::Log;
pub use model::{
    Model, ModelError, identity, load_settings, network, note_trims, save_model_weights, save_settings,
    to_toml,
};
pub use pmm_store::{
    Best, Facts, Named, State, TensorFileError, load_state, load_tensors, remove_leftovers, save_state,
    save_tensors, write_atomically,
};
pub use run::{Outcome, Progress, Task, TrainError, Watcher, train};
pub use table::{BatchConfig, TableTask, TrainBatch};
pub use text::{TextTask, split};
pub use text_config::{TEXT_PRESETS, TextConfig, TextKind};
pub use text_model::{
    TextModel, is_text_model, load_text_settings, save_text_settings, text_identity, text_network,
};
