// The boards to which the viewer may save, and then the sections of the chosen board, if it has any.
import { useState } from "preact/hooks";
import { BoardPicker } from "./BoardPicker";
import { type Section, SectionPicker, sectionsOf } from "./SectionPicker";
import { announce } from "./Toasts";

export interface Place {
  boardId: string;
  board: string;
  section: Section | null;
}

interface Chosen {
  boardId: string;
  board: string;
  sections: Section[];
}

export function PlacePicker({ onChoose }: { onChoose: (place: Place) => void }) {
  const [chosen, choose] = useState<Chosen | null>(null);
  const open = async (boardId: string, board: string, isNew: boolean) => {
    try {
      const sections = isNew ? [] : await sectionsOf(boardId);
      if (sections.length) choose({ boardId, board, sections });
      else onChoose({ boardId, board, section: null });
    } catch {
      announce("The sections of the board can't be read right now. Try again in a moment.", "error");
    }
  };
  if (!chosen) return <BoardPicker shared onChoose={(...board) => void open(...board)} />;
  const { boardId, board, sections } = chosen;
  return (
    <>
      <p>Choose a section of {board}:</p>
      <SectionPicker
        sections={sections}
        none="No section"
        onChoose={(id, name) => onChoose({ boardId, board, section: id ? { id, name } : null })}
      />
    </>
  );
}
