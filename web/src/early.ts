// The page's entry. It is small, so that the home feed is requested before the client itself is
// loaded, parsed and run. vite.config.ts inserts the query's hash.
import "./style.css";
import { askEarly } from "./api/early";
import { currentSession } from "./api/session";

declare const __HOME_FEED__: string;

if (location.pathname === "/") askEarly(__HOME_FEED__, currentSession()?.token);
void import("./main");
