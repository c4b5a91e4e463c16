import * as oauth from "oauth4webapi";
import { ApiError } from "../../api/errors";

/** Explains why a sign-in by the issuer failed. */
export function asSignInError(failure: unknown): ApiError {
  if (failure instanceof ApiError) return failure;
  if (failure instanceof oauth.AuthorizationResponseError || failure instanceof oauth.ResponseBodyError) {
    const detail = failure.error_description ? `: ${failure.error_description}` : "";
    return new ApiError(0, "", `The issuer did not sign you in (${failure.error})${detail}.`);
  }
  if (failure instanceof oauth.OperationProcessingError) {
    return new ApiError(0, "", `The answer of the issuer is invalid: ${failure.message}.`);
  }
  return new ApiError(0, "", "The issuer does not answer. Check the connection and try again.");
}
