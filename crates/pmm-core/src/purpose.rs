//! The registry of random streams: every purpose of randomness in the workspace, by name, each with a number of its own.
//!
//! Two uses that shared a number would read the same words, and be dependent without a word. So no crate makes numbers up: a
//! purpose is named here, and `tests/purposes.rs` reads the sources to see that each is used in one place.

/// What a stream is for; streams with different purposes are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Purpose(pub(crate) u32);

/// Numbers from here on are for callers outside the workspace.
const CUSTOM: u32 = 1 << 16;

macro_rules! purposes {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $($place:literal)|+;)*) => {
        impl Purpose {
            $($(#[$doc])* pub const $name: Self = Self($number);)*

            /// Every purpose: its name, its number, and the folders or files of the workspace that may use it.
            pub const REGISTRY: &'static [(&'static str, u32, &'static [&'static str])] =
                &[$((stringify!($name), $number, &[$($place),+])),*];
        }
    };
}

purposes! {
    /// Rows of an oracle's target.
    DATA = 1, "pmm-core/src/oracle" | "pmm-core/src/distance.rs";
    /// Times, for training and for bounds.
    TIME = 2, "pmm-core/src/bound.rs" | "pmm-net/src/table/batch.rs" | "pmm-train/src/text" | "pmm-train/src/image";
    /// Drawing a state straight from x.
    STATE = 3, "pmm-core/src/states.rs" | "pmm-core/src/text_bound.rs" | "pmm-net/src/text/batch.rs";
    /// Advancing a state by one step of a sampler.
    ADVANCE = 4, "pmm-core/src/sample";
    /// The last step of a sampler: from the final estimate to a value.
    FINISH = 5, "pmm-core/src/sample";
    /// Event times and orders of revealing.
    ORDER = 6, "pmm-core/src/sample" | "pmm-net/src/table";

    /// The weights that a network begins with.
    INITIAL = 65, "pmm-net/src";
    /// Where within the rank of a tied value a training target lies.
    TIES = 66, "pmm-net/src/table/batch.rs";
    /// Values that stand in where a batch of gradual clocks has none.
    STAND_IN = 67, "pmm-net/src/table/batch.rs";
    /// The order of a table's rows in an epoch.
    EPOCH = 74, "pmm-train/src/table";
    /// Which columns of a training row are known.
    KNOWN = 75, "pmm-train/src/table";
    /// Units of a table's network that are dropped.
    TABLE_DROPOUT = 76, "pmm-train/src/table";
    /// Which columns of a validation row are known.
    VALIDATION = 77, "pmm-train/src/table";
    /// Rows that are held out.
    TABLE_SPLIT = 84, "pmm-train/src/table";
    /// Where in the text a training window starts.
    WINDOW = 94, "pmm-train/src/text";
    /// One completed table after the other.
    IMPUTATION = 95, "pmm/src/table";
    /// Draws from a predictive law.
    FORECAST = 96, "pmm/src/table";
    /// One set of unknown cells after the other, in a forecast.
    FORECAST_GAPS = 97, "pmm/src/table";
    /// Features of an image network that are dropped.
    IMAGE_DROPOUT = 104, "pmm-net/src/unet";
    /// Which half of the rows stands in for the training rows.
    HALVES = 105, "pmm/src/table";
    /// The demo's split of its table.
    DEMO = 106, "pmm-cli/src/demo";
    /// Images that are held out.
    IMAGE_SPLIT = 114, "pmm-train/src/image";
    /// The images of a training step.
    IMAGE_CHOICE = 115, "pmm-train/src/image";
    /// The class of an image that is drawn.
    CLASS = 116, "pmm/src/image";
    /// Real images that scores look at.
    SCORED_IMAGES = 117, "pmm/src/image";
    /// How a training image is changed.
    AUGMENT = 118, "pmm-train/src/image" | "pmm-train/src/augment.rs";
    /// Some of many rows, for scores.
    SCORED_ROWS = 164, "pmm-eval/src/table";
    /// Rows that a two-sample classifier learns from.
    TWO_SAMPLE = 165, "pmm-eval/src/table";
    /// Ties in the ranks of truths among draws.
    CALIBRATION = 166, "pmm-eval/src/table";
    /// A sample of a column's values, where all would not fit.
    COLUMN_VALUES = 200, "pmm-data/src/table";
    /// A sample of a table's rows, where all would not fit.
    TABLE_ROWS = 201, "pmm-data/src/table";
    /// Which of the rare levels that share a code is written.
    RARE_LEVEL = 202, "pmm/src/table";
    /// The order in which the cells of a row are scored.
    LIKELIHOOD_ORDER = 203, "pmm-net/src/table";
    /// Subsets of a kernel distance.
    KERNEL_SUBSET = 204, "pmm-eval/src/image";
    /// Tokens of a held-out passage that are hidden.
    HIDDEN_TOKENS = 205, "pmm/src/text";
    /// Noise in which the network of images is scored.
    DENOISING = 206, "pmm/src/image";
    /// Noise from which the law of a byte is learned.
    BYTE_LAW = 207, "pmm/src/image";
    /// Embeddings of tokens and positions that a network of texts begins with.
    EMBEDDING = 208, "pmm-net/src/transformer.rs";
    /// Parts of images whose Fréchet distances are extrapolated.
    FRECHET_PARTS = 209, "pmm-eval/src/image";
    /// The rows in which rules are looked for.
    RULE_ROWS = 330, "pmm-data/src/rules";
    /// Draws by which the laws of a pair are checked.
    LAWS = 340, "pmm-core/src/laws";

    /// In which rows of a block new identifiers have which form.
    IDENTIFIER_ORDER = 460, "pmm-data/src/table/identifier";
    /// Which of the possible texts new identifiers are.
    IDENTIFIER = 461, "pmm-data/src/table/identifier";
    /// Empty cells among new identifiers, and which row shares one.
    IDENTIFIER_CELL = 462, "pmm-data/src/table/identifier";

    /// Which law of orders a text of a batch gets.
    ORDER_LAW = 350, "pmm-core/src/order.rs";
    /// The times of a text's events, which give its order.
    EVENT_ORDER = 351, "pmm-core/src/order.rs" | "pmm-core/src/order_bound.rs" | "pmm-core/src/order_sample.rs" | "pmm-train/src/text";
    /// The weights that an ordered network of texts begins with.
    ORDERED_INITIAL = 352, "pmm-net/src/text/ordered.rs";
    /// A cell of a table, drawn when its turn comes.
    REVEALED_CELL = 440, "pmm-net/src/table";
    /// Whether a rule that holds in a share of the rows holds in this one.
    CHANCE_RULE = 441, "pmm-net/src/table";
    /// Candidates of a row under several conditions, and which of them is taken.
    CANDIDATE = 442, "pmm-net/src/table";
    /// Tokens of a text that is filled in an order.
    ORDERED_TOKEN = 353, "pmm-core/src/order_sample.rs" | "pmm-core/src/order_grow.rs";
    /// The order in which a held-out text is scored.
    SCORED_ORDER = 354, "pmm/src/text";
    /// Which examples a boosted tree is grown from.
    TREE_EXAMPLES = 470, "pmm-trees/src";
    /// Which cells of a row are known where trees learn or are validated.
    TREE_KNOWN = 471, "pmm-net/src/table/trees";
    /// How long a gap of unknown length is.
    GAP_LENGTH = 420, "pmm/src/text";
}

impl Purpose {
    /// A purpose of a caller outside the workspace.
    pub const fn custom(number: u16) -> Self {
        Self(CUSTOM + number as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_stands_twice() {
        let mut numbers: Vec<u32> = Purpose::REGISTRY.iter().map(|(_, number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), Purpose::REGISTRY.len());
        assert!(numbers.iter().all(|number| *number < CUSTOM));
    }
}
