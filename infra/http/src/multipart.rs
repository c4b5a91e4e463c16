//! Bodies of several parts (`multipart/form-data`, RFC 7578).

use crate::call::Call;
use crate::code::Code;
use crate::field::FieldError;
use crate::reply::{Failure, Reply};
use futures_util::stream;
use multer::{Multipart, parse_boundary};
use std::convert::Infallible;

impl Call {
    /// Returns the file in the part `field`, if it is UTF-8 text of at most `bytes_max` bytes.
    pub async fn text_file(&self, field: &str, bytes_max: usize) -> Result<String, Failure> {
        let boundary =
            parse_boundary(&self.content_type).map_err(|_| unreadable("must be multipart/form-data"))?;
        let body = self.body.clone();
        let once = stream::once(async move { Ok::<_, Infallible>(body) });
        let mut parts = Multipart::new(once, boundary);
        loop {
            let next = parts.next_field().await.map_err(|_| unreadable("must consist of complete parts"))?;
            let part = next.ok_or_else(|| FieldError::new(field, "must be present"))?;
            if part.name() != Some(field) {
                continue;
            }
            let bytes = part.bytes().await.map_err(|_| unreadable("must consist of complete parts"))?;
            if bytes.len() > bytes_max {
                return Err(FieldError::new(field, format!("must be at most {bytes_max} bytes")).into());
            }
            let text = String::from_utf8(bytes.to_vec());
            return text.map_err(|_| FieldError::new(field, "must be UTF-8 text").into());
        }
    }
}

fn unreadable(why: &str) -> Failure {
    Reply::refused(Code::InvalidBody, &format!("the body {why}")).into()
}
