import type { Resource } from "../../lib/use-resource";
import { ResourceStatus } from "../../ui/resource-status";

/** Shows that data for administrators loads, or why it did not. Status 403 is an explanation, not a failure. */
export function AdminStatus({ resource, what }: { resource: Resource<unknown>; what: string }) {
  if (resource.error?.status !== 403) return <ResourceStatus resource={resource} />;
  return (
    <p className="note">
      {what} the role ADMIN, and your key has another one. Ask an administrator of your team for another key.
    </p>
  );
}
