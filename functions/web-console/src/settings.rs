//! The settings of the console: the issuer for the sign-in of people, and the teams of a demonstration.

use serde::Serialize;
use url::Url;

/// The settings of the console, in the form of `/v1/console.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Settings {
    #[serde(flatten)]
    sign_in: Option<SignIn>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    demo_teams: Vec<DemoTeam>,
}

/// The issuer at which people sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct SignIn {
    issuer: String,
    client_id: String,
    audience: String,
    /// Origins of the issuer, which the console contacts.
    #[serde(skip)]
    origins: Vec<String>,
}

/// A team with a key that is public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DemoTeam {
    pub team: String,
    pub key: String,
}

impl Settings {
    /// Settings with neither an issuer nor teams.
    pub const NONE: Self = Self { sign_in: None, demo_teams: Vec::new() };

    /// Creates the settings for an issuer and the id of the console there; none if people do not sign in.
    ///
    /// The token endpoint of some issuers has another origin. `token_origin` is empty if the origin is the same.
    pub fn new(
        issuer: Option<&dovetail_issuer::Settings>,
        client_id: &str,
        token_origin: &str,
    ) -> Result<Self, String> {
        if client_id.is_empty() {
            return Ok(Self::NONE);
        }
        let Some(issuer) = issuer else {
            return Err(format!("the client id {client_id} requires an issuer"));
        };
        let mut origins = vec![origin(issuer.url())?];
        if !token_origin.is_empty() {
            origins.push(origin(token_origin)?);
        }
        let (issuer, audience) = (issuer.url().to_owned(), issuer.audience().to_owned());
        let sign_in = Some(SignIn { issuer, client_id: client_id.to_owned(), audience, origins });
        Ok(Self { sign_in, demo_teams: Vec::new() })
    }

    /// Reads the issuer, `DOVETAIL_CONSOLE_CLIENT_ID` and `DOVETAIL_CONSOLE_TOKEN_ORIGIN`.
    pub fn from_env() -> Result<Self, String> {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let issuer = dovetail_issuer::Settings::from_env()?;
        let (client_id, token_origin) =
            (variable("DOVETAIL_CONSOLE_CLIENT_ID"), variable("DOVETAIL_CONSOLE_TOKEN_ORIGIN"));
        Self::new(issuer.as_ref(), &client_id, &token_origin)
    }

    /// Adds teams that everyone can sign in as.
    pub fn with_demo(self, demo_teams: Vec<DemoTeam>) -> Self {
        Self { demo_teams, ..self }
    }

    /// Returns the origins besides its own that the console contacts.
    pub(crate) fn origins(&self) -> &[String] {
        self.sign_in.as_ref().map_or(&[], |sign_in| &sign_in.origins)
    }
}

/// Returns the origin of a URL. Only plain characters can be in it, so it fits into a policy.
fn origin(url: &str) -> Result<String, String> {
    let parsed = Url::parse(url).ok().map(|url| url.origin()).filter(url::Origin::is_tuple);
    parsed.map(|origin| origin.ascii_serialization()).ok_or_else(|| format!("{url} must be a URL"))
}
