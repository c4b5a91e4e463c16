import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { SessionProvider } from "./session/session";
import { App } from "./shell/app";
import "./styles/index.css";

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <SessionProvider>
      <App />
    </SessionProvider>
  </StrictMode>,
);
