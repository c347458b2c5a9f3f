//! The arguments of `bakeoff-targets null`.

use clap::Args;

use super::spec::NullSpec;
use crate::arguments::PlaceArguments;

/// Each is one key of the description.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    place: PlaceArguments,
}

impl From<Arguments> for NullSpec {
    fn from(Arguments { place }: Arguments) -> Self {
        Self {
            host: place.host,
            port: place.port,
            unix: place.unix,
            threads: place.threads,
            pin: place.pin,
            page_bytes: place.size,
            close: place.close,
        }
    }
}
