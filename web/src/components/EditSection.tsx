// A dialog that renames a section of a board, or deletes it.
import { useState } from "preact/hooks";
import { make } from "../api/change";
import { deleteSection, renameSection } from "../changes/sections";
import { Dialog } from "./Dialog";
import { Field } from "./Field";
import { SaveOrDelete } from "./SaveOrDelete";
import { announce } from "./Toasts";

interface Props {
  section: { id: string; name: string };
  onClose: () => void;
}

export function EditSection({ section, onClose }: Props) {
  const [name, setName] = useState(section.name);
  const save = async (event: Event) => {
    event.preventDefault();
    if (await make(renameSection, { sectionId: section.id, name: name.trim() })) onClose();
  };
  const remove = async () => {
    if (!(await make(deleteSection, { sectionId: section.id }))) return;
    onClose();
    announce(`The section ${section.name} is deleted.`);
  };
  return (
    <Dialog title="Edit the section" onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <Field label="Name" value={name} onChange={setName} required />
        <SaveOrDelete what="the section" question="Delete the section? Its pins stay on the board." onDelete={() => void remove()} />
      </form>
    </Dialog>
  );
}
