export { SchemaForm, type SchemaFormProps } from "./form/schema-form";
export { Markdown } from "./markdown";
