/** Names: the words of tables and columns, their singulars, plurals and spellings. */
import { expect } from 'chai';
import { camelCase, pascalCase, plural, singular, wordsOf } from '../../../src/scaffold/names.js';

/** Singulars and plurals. */
const WORDS =
  'order orders,category categories,address addresses,status statuses,box boxes,branch branches,wish wishes,bus buses,house houses,' +
  'case cases,database databases,analysis analyses,person people,child children,index indices,criterion criteria,hero heroes,photo photos,' +
  'movie movies,key keys,day days,tax taxes,quiz quizzes,knife knives,menu menus,alias aliases,lens lenses,virus viruses,cause causes,' +
  'purchase purchases,license licenses,area areas,schema schemas,process processes,class classes,size sizes,prize prizes,history histories,' +
  'data data,media media,news news,series series,gps gps,metadata metadata,os os,id ids,api apis,cache caches,pie pies,leaf leaves';

describe('names of a plan', () => {
  it('have singulars and plurals, which stay as they are', () => {
    for (const [one = '', many = ''] of WORDS.split(',').map((pair) => pair.split(' '))) {
      expect([singular(many), singular(one), plural(one), plural(many)], one).to.deep.equal([
        one,
        one,
        many,
        many,
      ]);
    }
  });

  it('are spelled with letters of ASCII', () => {
    const cases: [name: string, camel: string, pascal: string][] = [
      ['order_line', 'orderLine', 'OrderLine'],
      ['OrderLine', 'orderLine', 'OrderLine'],
      ['ORDER_LINE', 'orderLine', 'OrderLine'],
      ['Order Line-No.', 'orderLineNo', 'OrderLineNo'],
      ['HTTPServer2', 'httpServer2', 'HttpServer2'],
      ['customerID', 'customerId', 'CustomerId'],
      ['_private__x_', 'privateX', 'PrivateX'],
      ['2nd_try', 'n2ndTry', 'N2ndTry'],
      ['größe', 'grosse', 'Grosse'],
      ['Ærø Øst', 'aeroOst', 'AeroOst'],
      ['цена_нетто', 'tsenaNetto', 'TsenaNetto'],
      ['Щука', 'shchuka', 'Shchuka'],
      ['ώρα', 'ora', 'Ora'],
      ['İstanbul', 'istanbul', 'Istanbul'],
      ['数量', '', ''],
      ['数量_id', '', ''],
      ['$%&', '', ''],
      ['a'.repeat(70), 'a'.repeat(63), `A${'a'.repeat(62)}`],
    ];
    for (const [name, camel, pascal] of cases)
      expect([camelCase(wordsOf(name)), pascalCase(wordsOf(name))], name).to.deep.equal([camel, pascal]);
  });
});
