import { Max, Min } from 'class-validator';
import { crudController, InjectRecord } from 'crud-controllers';
import { Body, Put } from 'routing-controllers';
import { Note } from './note.js';

class Rating {
  @Min(0)
  @Max(5)
  stars!: number;
}

export class NoteController extends crudController(Note) {
  @Put('/:id/stars')
  rate(@InjectRecord() note: Note, @Body({ type: Rating }) { stars }: Rating) {
    return note.update({ stars });
  }
}
