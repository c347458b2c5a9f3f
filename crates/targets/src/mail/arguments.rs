//! The arguments of `bakeoff-targets mail`.

use clap::Args;

use super::spec::MailSpec;

/// The whole description, as for the library.
#[derive(Args)]
pub struct Arguments {
    /// Keys and values, as in '{"lose":{"count":1,"of":100}}'
    #[arg(default_value = "{}", value_parser = settings)]
    settings: MailSpec,
}

fn settings(text: &str) -> Result<MailSpec, String> {
    serde_json::from_str(text).map_err(|e| e.to_string())
}

impl From<Arguments> for MailSpec {
    fn from(arguments: Arguments) -> Self {
        arguments.settings
    }
}
