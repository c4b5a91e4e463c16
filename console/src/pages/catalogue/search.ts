import type { Service } from "../../api/types";
import { descriptionOf } from "../../lib/definition";

/** Reports whether every word of the search occurs in name, owner, description or tags. */
export function matches(service: Service, words: string): boolean {
  const texts = [service.name, service.owner.name, descriptionOf(service), ...service.tags];
  const content = texts.join(" ").toLocaleLowerCase();
  return words.toLocaleLowerCase().split(/\s+/).every((word) => content.includes(word));
}
