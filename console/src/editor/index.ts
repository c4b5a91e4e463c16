export { CodeEditor, type CodeEditorProps, type CodeProblem } from "./code-editor";
export { formatValue, type ParsedText, parseText, type TextFormat, type ValidText } from "./declaration-text";
export { editText } from "./edit-text";
export { SchemaForm, type SchemaFormProps } from "./form/schema-form";
export { Markdown } from "./markdown";
export { findPath, findRange, type TextRange } from "./text-positions";
