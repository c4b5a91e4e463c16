import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { takeReturn } from "./session/issuer/redirect";
import { SessionProvider } from "./session/session";
import { App } from "./shell/app";
import "./styles/index.css";

// The address must be clean before the first page reads it.
const returned = takeReturn();

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <SessionProvider returned={returned}>
      <App />
    </SessionProvider>
  </StrictMode>,
);
