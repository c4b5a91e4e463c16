//! The connection to the server of a profile.

use crate::{
    account::{
        keyring,
        profile::{self, Profile, Profiles},
    },
    api::client::Api,
    base::failure::Failure,
};
use std::env;

/// Connects with a profile, or with `DOVETAIL_URL` and `DOVETAIL_API_KEY` of a pipeline.
pub(crate) fn connect(profile: Option<&str>) -> Result<Api, Failure> {
    let (url, key) = (env::var("DOVETAIL_URL").ok(), env::var("DOVETAIL_API_KEY").ok());
    if let (None, Some(key)) = (profile, &key) {
        let url = url.unwrap_or_else(|| profile::LOCAL.to_owned());
        return Ok(Api::new(&url, key));
    }
    let profiles = Profiles::read()?;
    let name = profile.unwrap_or_else(|| profiles.current());
    let Profile { url, key, .. } = profiles.get(name)?;
    let key = key.clone().map_or_else(|| keyring::read(name), Ok)?;
    Ok(Api::new(url, &key))
}
