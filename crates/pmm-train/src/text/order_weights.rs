//! In which orders an ordered network learns texts.

use std::sync::Arc;

use pmm_core::{OrderLaw, OrderMixture, ParameterError};
use pmm_net::SettingError;
use pmm_net::text::Schedule;
use serde::{Deserialize, Serialize};

/// The weights of the laws of orders: of a batch, each law gets its share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OrderWeights {
    /// Left to right.
    pub left_to_right: f64,
    /// What is known first, left to right, then the gaps, left to right.
    pub infill: f64,
    /// Any order.
    pub random: f64,
    /// The order in which the clock of `schedule` reveals positions.
    pub clock: f64,
}

impl Default for OrderWeights {
    fn default() -> Self {
        Self { left_to_right: 1.0, infill: 1.0, random: 1.0, clock: 0.0 }
    }
}

impl OrderWeights {
    /// The mixture of laws; the clock is that of a schedule.
    pub fn mixture(&self, schedule: Schedule) -> Result<OrderMixture, ParameterError> {
        let clock = OrderLaw::Clock(Arc::from(schedule.clock()));
        OrderMixture::new(vec![
            (OrderLaw::LeftToRight, self.left_to_right),
            (OrderLaw::Infill, self.infill),
            (OrderLaw::Random, self.random),
            (clock, self.clock),
        ])
    }

    /// Refuses weights that make no mixture.
    pub fn check(&self) -> Result<(), SettingError> {
        for (key, weight) in [
            ("order.left_to_right", self.left_to_right),
            ("order.infill", self.infill),
            ("order.random", self.random),
            ("order.clock", self.clock),
        ] {
            SettingError::between(key, weight, 0.0, 1e9)?;
        }
        let some = self.left_to_right + self.infill + self.random + self.clock > 0.0;
        SettingError::unless(some, "order.left_to_right", self.left_to_right, "above 0, or another order be")
    }
}
