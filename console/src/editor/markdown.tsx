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

/** The page has the headings of the levels 1 and 2. */
const HEADING_OFFSET = 2;
const TAGS = [
  ..."p br hr strong em del code pre blockquote ul ol li a table thead tbody tr th td".split(" "),
  ..."h3 h4 h5 h6 sup sub details summary dl dt dd kbd".split(" "),
];

marked.use({
  renderer: {
    heading({ tokens, depth }) {
      const level = Math.min(depth + HEADING_OFFSET, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
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

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
