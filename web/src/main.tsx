// Starts the client: cache, routes, and messages from other tabs.
import { ApolloProvider } from "@apollo/client/react";
import { render } from "preact";
import { followOtherTabsChanges } from "./api/change";
import { client } from "./api/client";
import { keepTokenFresh } from "./api/refresh";
import { followOtherTabs } from "./api/session";
import { App } from "./app";

followOtherTabs();
followOtherTabsChanges();
keepTokenFresh();
render(
  <ApolloProvider client={client}>
    <App />
  </ApolloProvider>,
  document.getElementById("root") as HTMLElement,
);
