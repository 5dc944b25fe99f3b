export { Note } from 'notes';
