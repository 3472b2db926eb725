// A text whose words that a search found are marked.
interface Props {
  parts: { text: string; matched: boolean }[];
}

export function Marked({ parts }: Props) {
  return <>{parts.map((part, place) => (part.matched ? <mark key={place}>{part.text}</mark> : part.text))}</>;
}
