//! What differs between tables, texts and images, as far as fitting and keeping a model goes.

use std::path::Path;
use std::sync::Arc;

use pmm_core::ParameterError;
use pmm_net::{Device, Parts, SettingError};
use pmm_store::Named;
use pmm_train::TrainConfig;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::fitted::Fitted;

/// A kind of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    /// Rows and columns.
    Table,
    /// Texts.
    Text,
    /// Images.
    Image,
}

impl DataKind {
    /// Its name in settings and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Text => "text",
            Self::Image => "image",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Table, Self::Text, Self::Image].into_iter().find(|kind| kind.name() == name)
    }
}

/// The settings of a kind.
pub(crate) trait Config: Serialize + DeserializeOwned + Clone {
    /// Refuses what makes no model.
    fn check(&self) -> Result<(), SettingError>;
    /// The training.
    fn train(&self) -> &TrainConfig;
    /// With another training.
    fn with_train(self, train: TrainConfig) -> Self;
    /// With so many steps, and all that follows from their number.
    fn with_steps(self, steps: u64) -> Self;
    /// The settings that count for the result.
    fn that_count(&self) -> Self {
        let train = self.train().that_count();
        self.clone().with_train(train)
    }
}

/// What a kind of data brings along. All that tables, texts and images have in common is written once, over this.
pub(crate) trait Kind: Sized + 'static {
    /// Which kind it is.
    const KIND: DataKind;
    /// The file that says what the data are.
    const DESCRIPTION_FILE: &'static str;
    /// The unit of its loss.
    const LOSS_UNIT: &'static str;
    /// The settings.
    type Config: Config;
    /// What the data are: schema, tokenizer, facts about images.
    type Description;
    /// The network.
    type Net;
    /// What a model has beside the weights of its network; nothing, for most kinds.
    type More: Default + Clone;
    /// What the weights' file says beside how the fit went.
    type Facts: Serialize + DeserializeOwned + Clone + std::fmt::Debug;

    /// The description as text.
    fn write_description(description: &Self::Description) -> Result<String, Error>;
    /// The description of a text.
    fn read_description(text: &str, path: &Path) -> Result<Self::Description, Error>;
    /// Refuses a description that settings are not for.
    fn check_description(description: &Self::Description, config: &Self::Config) -> Result<(), SettingError> {
        let _ = (description, config);
        Ok(())
    }
    /// The network, on a device.
    fn network(
        config: &Self::Config,
        description: &Arc<Self::Description>,
        device: &Device,
    ) -> Result<Self::Net, ParameterError>;
    /// The parts of the network's weights.
    fn parts(net: &Self::Net) -> &Parts;
    /// What a model has beside its network's weights, as tensors of the same file.
    fn more_tensors(more: &Self::More) -> Vec<Named> {
        let _ = more;
        Vec::new()
    }
    /// The same of the tensors that are not the network's; says what is wrong with them.
    fn read_more(net: &Self::Net, tensors: Vec<Named>) -> Result<Self::More, String> {
        let _ = (net, tensors);
        Ok(Self::More::default())
    }
    /// The model's `README.md`.
    fn card(model: &Fitted<Self>) -> String;
    /// What it was fitted to, in words: (name, value).
    fn about(model: &Fitted<Self>) -> Vec<(&'static str, String)>;
    /// What the data are, as JSON.
    fn details(model: &Fitted<Self>) -> serde_json::Value;
    /// The seed.
    fn seed(config: &Self::Config) -> u64;
}

macro_rules! config {
    ($config:ty) => {
        impl Config for $config {
            fn check(&self) -> Result<(), SettingError> {
                self.check()
            }
            fn train(&self) -> &TrainConfig {
                &self.train
            }
            fn with_train(self, train: TrainConfig) -> Self {
                Self { train, ..self }
            }
            fn with_steps(self, steps: u64) -> Self {
                self.with_steps(steps)
            }
        }
    };
}
config!(pmm_train::table::TableConfig);
config!(pmm_train::text::TextConfig);
config!(pmm_train::image::ImageConfig);
