import DOMPurify from "dompurify";
import { Marked } from "marked";
import { useMemo } from "react";

/** Shows Markdown of another team. Only text, lists, tables, code and links remain. */
export function Markdown({ text }: { text: string }) {
  const html = useMemo(() => sanitize(render(text)), [text]);
  return <div className="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}

const marked = new Marked({ gfm: true, async: false });
const purifier = DOMPurify(window);

const TEXT_TAGS = "b br code dd del details dl dt em i kbd li ol p strong sub summary sup ul".split(" ");
const TAGS = [...TEXT_TAGS, ..."a blockquote h3 h4 h5 h6 hr pre table tbody td th thead tr".split(" ")];
/** The page has the headings of the levels 1 and 2. */
const PAGE_LEVEL = 2;
let lastLevel = PAGE_LEVEL;

marked.use({
  renderer: {
    heading({ tokens, depth }) {
      // No level is left out, because screen readers list headings as a tree.
      const level = Math.min(depth + PAGE_LEVEL, lastLevel + 1, 6);
      lastLevel = level;
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
    html: ({ text }) => withoutAttributes(text),
    // The policy blocks images of other origins, so their text takes the place.
    image: ({ text }) => escapeHtml(text),
    // The checkbox of a task list would be a control without a label.
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("rel", "noopener noreferrer");
  node.setAttribute("target", "_blank");
});

function render(text: string): string {
  lastLevel = PAGE_LEVEL;
  return marked.parse(text, { async: false });
}

function sanitize(html: string): string {
  return purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "title", "start"],
    // Anchors and relative links would leave the route of the console.
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

/** Keeps tags of texts without their attributes: the policy reports a style even in a document that is not shown. */
function withoutAttributes(html: string): string {
  const visible = html.replaceAll(/<!--[^]*?-->|<(script|style)\b[^]*?<\/\1\s*>/gi, "");
  const parts = visible.split(/(<\/?[a-z][^<>]*>)/i);
  return parts.map((part, index) => (index % 2 === 1 ? bareTag(part) : part.replaceAll("<", "&lt;"))).join("");
}

function bareTag(tag: string): string {
  const [, slash, name = ""] = /^<(\/?)([a-z0-9]+)/i.exec(tag) ?? [];
  return TEXT_TAGS.includes(name.toLowerCase()) ? `<${slash}${name}>` : "";
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
