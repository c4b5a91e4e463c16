import * as oauth from "oauth4webapi";
import type { IssuerSettings } from "../../api/account";

export type Issuer = { settings: IssuerSettings; server: oauth.AuthorizationServer; client: oauth.Client };

/** Reads the endpoints of the issuer. */
export async function discover(settings: IssuerSettings): Promise<Issuer> {
  const url = new URL(settings.issuer);
  const response = await oauth.discoveryRequest(url, requestOptions(settings));
  const server = await oauth.processDiscoveryResponse(url, response);
  return { settings, server, client: { client_id: settings.client_id } };
}

/** Permits plain HTTP only for an issuer that is configured with it, for example one on this machine. */
export function requestOptions({ issuer }: IssuerSettings) {
  return { [oauth.allowInsecureRequests]: new URL(issuer).protocol === "http:" };
}
