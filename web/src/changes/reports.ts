// Reports a pin, a board, a person or a comment to the operators.
import { graphql } from "../gen";
import type { ReportMutation, ReportReason } from "../gen/graphql";
import { defineChange } from "../api/change";

const Report = graphql(`
  mutation Report($input: ReportInput!) {
    report(input: $input) {
      reportedId
      errors {
        message
      }
    }
  }
`);

interface Given {
  id: string;
  reason: ReportReason;
  text: string;
}

export const report = defineChange<Given, ReportMutation>({
  name: "report",
  document: Report,
  payload: (data) => data.report,
});
