// The page's entry: small, so that the home feed is on its way while the client itself is loaded,
// read and run. vite.config.ts writes the query's text.
import "./style.css";
import { askEarly } from "./api/early";
import { currentSession } from "./api/session";

declare const __HOME_FEED__: string;

if (location.pathname === "/") askEarly(__HOME_FEED__, currentSession()?.token);
void import("./main");
