/** The plan of the models of a database: from the catalogue, before any text of a file. */
import type { ReferentialAction, TableKind } from '../describe/table-facts.js';

/** A database, as its catalogue has it: without the tables of the system, of extensions, and without partitions. */
export interface DatabaseSchema {
  /** Tables, in the order of schema and name. */
  readonly tables: readonly DatabaseTable[];
  readonly leftOut: readonly LeftOut[];
  /** Other tables that are there, as `schema.name`: those that were not chosen, and those that the role may not read. */
  readonly otherTables?: readonly string[];
}

/** A construct of the database that no model has, with the reason. */
export interface LeftOut {
  /** Kind and name, such as `check "price_positive" of shop.products`. */
  readonly construct: string;
  /** A sentence. */
  readonly reason: string;
}

/** A table or a view that the role may read. */
export interface DatabaseTable {
  readonly schema: string;
  readonly name: string;
  readonly kind: TableKind;
  readonly comment: string | null;
  /** True where other tables inherit from it. */
  readonly isInherited: boolean;
  /** Columns, in the order of the catalogue; those that the role may not read are left out. */
  readonly columns: readonly DatabaseColumn[];
  /** Columns of the primary key, in the order of its index; empty where there is none. */
  readonly primaryKey: readonly string[];
  readonly indexes: readonly DatabaseIndex[];
  readonly foreignKeys: readonly DatabaseForeignKey[];
  /** Columns that BEFORE triggers set, as far as the text of their functions says so. */
  readonly setByTriggers: readonly string[];
}

/** A column. */
export interface DatabaseColumn {
  readonly name: string;
  readonly comment: string | null;
  /** Type as `format_type` writes it, with the modifiers; for a domain the type that it is based on, with its own modifiers. */
  readonly type: string;
  /** The same without modifiers, and without the brackets of an array. */
  readonly base: string;
  readonly isArray: boolean;
  /** Labels of an enum, of an array of them, and of a domain over one. */
  readonly labels: readonly string[] | null;
  /** The name of a domain, and its checks as SQL. */
  readonly domain: { readonly name: string; readonly checks: readonly string[] } | null;
  readonly isNotNull: boolean;
  /** `pg_get_expr` of the default, also that of the domain. */
  readonly defaultSql: string | null;
  readonly identity: 'always' | 'by default' | null;
  readonly isGenerated: boolean;
  /** Why no attribute can have its values, as a sentence; null for all types that have a form. */
  readonly formProblem: string | null;
}

/** An index that is valid. */
export interface DatabaseIndex {
  readonly name: string;
  readonly method: string;
  readonly isUnique: boolean;
  readonly isPrimary: boolean;
  /** True where it is checked at once, and compares texts as its columns do. */
  readonly isExact: boolean;
  /** Key columns in order; null in the place of an expression. */
  readonly columns: readonly (string | null)[];
  /** Expressions in the place of columns. */
  readonly expressions: readonly (string | null)[];
  /** `pg_get_expr` of its predicate. */
  readonly predicate: string | null;
  readonly definition: string;
}

/** Columns that refer to those of another table, pair by pair. */
export interface DatabaseForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly targetSchema: string;
  readonly targetTable: string;
  readonly targetColumns: readonly string[];
  readonly onDelete: ReferentialAction;
  readonly onUpdate: ReferentialAction;
  /** True where all columns are NULL or none is, as `MATCH FULL` has it. */
  readonly isFull: boolean;
}

/** A model: the names of all that its file has. */
export interface ModelPlan {
  readonly table: DatabaseTable;
  /** `OrderLine`. */
  readonly className: string;
  /** Name of the file without its ending: `order-line`. */
  readonly fileName: string;
  readonly attributes: readonly AttributePlan[];
  readonly relations: readonly RelationPlan[];
  /** Attributes that address a row, in the order of the index; empty where nothing does. */
  readonly id: readonly string[];
  /** Attributes that clients may filter and sort by: the first columns of indexes. */
  readonly filterAllow: readonly string[];
  readonly sortAllow: readonly string[];
  /** Path of the resource, where the path by its class name would be that of another model; else null. */
  readonly prefix: string | null;
  /** Options of `@Crud` that the database suggests, each as a line of a comment, such as `include: { customer: true }`. */
  readonly proposals: readonly string[];
}

/** An attribute, with its column. */
export interface AttributePlan {
  readonly name: string;
  readonly column: DatabaseColumn;
  /** True for the parts of a row's address, which the model declares as its primary key. */
  readonly isKey: boolean;
  /** True for names such as `password_hash`: no answer shows it. */
  readonly isSecret: boolean;
}

/** Two attributes with the same value. */
export interface KeyNames {
  readonly foreignKey: string;
  readonly referencedKey: string;
}

/** A relation, to one record or to many. */
export interface RelationPlan extends KeyNames {
  readonly kind: 'BelongsTo' | 'HasOne' | 'HasMany' | 'BelongsToMany' | 'BelongsToKey' | 'HasManyKey';
  readonly name: string;
  /** Class name of the other model. */
  readonly target: string;
  /** The attribute with the foreign key: of this model for `BelongsTo`, else of the target, or of the join model. */
  readonly foreignKey: string;
  /** The attribute that the foreign key refers to. */
  readonly referencedKey: string;
  /** The further attributes of a key of several. */
  readonly more?: readonly KeyNames[];
  /** Parts of `BelongsToMany`: class name of the join model, its attribute that refers to the target, and the attribute there. */
  readonly through?: {
    readonly model: string;
    readonly otherKey: string;
    readonly referencedKey: string;
  };
  readonly onDelete?: ReferentialAction;
}

/** The models of a database. */
export interface ModelsPlan {
  readonly models: readonly ModelPlan[];
  readonly leftOut: readonly LeftOut[];
  /** Proposals that are not assumed, such as `shop.products: deleted_at could be softDelete`. */
  readonly hints: readonly string[];
}
