-- The tables of AdventureWorks, a maker of bicycles, in words of our own: five schemas, domains, keys of up to three columns, views.
CREATE DOMAIN "AccountNumber" varchar(15); CREATE DOMAIN "Flag" boolean NOT NULL; CREATE DOMAIN "Name" varchar(50);
CREATE DOMAIN "NameStyle" boolean NOT NULL; CREATE DOMAIN "OrderNumber" varchar(25); CREATE DOMAIN "Phone" varchar(25);
CREATE SCHEMA person; CREATE SCHEMA humanresources; CREATE SCHEMA production; CREATE SCHEMA purchasing; CREATE SCHEMA sales;

CREATE TABLE person.businessentity (businessentityid serial PRIMARY KEY);
CREATE TABLE person.countryregion (countryregioncode varchar(3) PRIMARY KEY, name "Name" NOT NULL);
CREATE TABLE person.addresstype (addresstypeid serial PRIMARY KEY, name "Name" NOT NULL);
CREATE TABLE person.contacttype (contacttypeid serial PRIMARY KEY, name "Name" NOT NULL);
CREATE TABLE person.phonenumbertype (phonenumbertypeid serial PRIMARY KEY, name "Name" NOT NULL);
CREATE TABLE sales.salesterritory (territoryid serial PRIMARY KEY, name "Name" NOT NULL, countryregioncode varchar(3) NOT NULL REFERENCES person.countryregion,
  "group" varchar(50) NOT NULL, salesytd numeric NOT NULL DEFAULT 0, saleslastyear numeric NOT NULL DEFAULT 0, costytd numeric NOT NULL DEFAULT 0,
  costlastyear numeric NOT NULL DEFAULT 0);
CREATE TABLE person.stateprovince (stateprovinceid serial PRIMARY KEY, stateprovincecode char(3) NOT NULL, countryregioncode varchar(3) NOT NULL
  REFERENCES person.countryregion, isonlystateprovinceflag "Flag" NOT NULL DEFAULT true, name "Name" NOT NULL, territoryid int NOT NULL REFERENCES sales.salesterritory);
CREATE TABLE person.address (addressid serial PRIMARY KEY, addressline1 varchar(60) NOT NULL, addressline2 varchar(60), city varchar(30) NOT NULL,
  stateprovinceid int NOT NULL REFERENCES person.stateprovince, postalcode varchar(15) NOT NULL, spatiallocation bytea);
CREATE TABLE person.person (businessentityid int PRIMARY KEY REFERENCES person.businessentity, persontype char(2) NOT NULL, namestyle "NameStyle" NOT NULL DEFAULT false,
  title varchar(8), firstname "Name" NOT NULL, middlename "Name", lastname "Name" NOT NULL, suffix varchar(10), emailpromotion int NOT NULL DEFAULT 0
  CHECK (emailpromotion >= 0), additionalcontactinfo xml, demographics xml);
CREATE TABLE person.businessentityaddress (businessentityid int REFERENCES person.businessentity, addressid int REFERENCES person.address,
  addresstypeid int REFERENCES person.addresstype, PRIMARY KEY (businessentityid, addressid, addresstypeid));
CREATE TABLE person.businessentitycontact (businessentityid int REFERENCES person.businessentity, personid int REFERENCES person.person,
  contacttypeid int REFERENCES person.contacttype, PRIMARY KEY (businessentityid, personid, contacttypeid));
CREATE TABLE person.emailaddress (businessentityid int REFERENCES person.person, emailaddressid serial, emailaddress varchar(50),
  PRIMARY KEY (businessentityid, emailaddressid));
CREATE TABLE person.password (businessentityid int PRIMARY KEY REFERENCES person.person, passwordhash varchar(128) NOT NULL, passwordsalt varchar(10) NOT NULL);
CREATE TABLE person.personphone (businessentityid int REFERENCES person.person, phonenumber "Phone", phonenumbertypeid int REFERENCES person.phonenumbertype,
  PRIMARY KEY (businessentityid, phonenumber, phonenumbertypeid));

CREATE TABLE humanresources.department (departmentid serial PRIMARY KEY, name "Name" NOT NULL, groupname "Name" NOT NULL);
CREATE TABLE humanresources.shift (shiftid serial PRIMARY KEY, name "Name" NOT NULL, starttime time NOT NULL, endtime time NOT NULL);
CREATE TABLE humanresources.employee (businessentityid int PRIMARY KEY REFERENCES person.person, nationalidnumber varchar(15) NOT NULL, loginid varchar(256) NOT NULL,
  jobtitle varchar(50) NOT NULL, birthdate date NOT NULL, maritalstatus char(1) NOT NULL, gender char(1) NOT NULL, hiredate date NOT NULL,
  salariedflag "Flag" NOT NULL DEFAULT true, vacationhours smallint NOT NULL DEFAULT 0, sickleavehours smallint NOT NULL DEFAULT 0,
  currentflag "Flag" NOT NULL DEFAULT true, organizationnode varchar DEFAULT '/');
CREATE TABLE humanresources.employeedepartmenthistory (businessentityid int REFERENCES humanresources.employee, departmentid smallint
  REFERENCES humanresources.department, shiftid smallint REFERENCES humanresources.shift, startdate date, enddate date,
  PRIMARY KEY (businessentityid, startdate, departmentid, shiftid));
CREATE TABLE humanresources.employeepayhistory (businessentityid int REFERENCES humanresources.employee, ratechangedate timestamp, rate numeric NOT NULL,
  payfrequency smallint NOT NULL, PRIMARY KEY (businessentityid, ratechangedate));
CREATE TABLE humanresources.jobcandidate (jobcandidateid serial PRIMARY KEY, businessentityid int REFERENCES humanresources.employee, resume xml);

CREATE TABLE production.unitmeasure (unitmeasurecode char(3) PRIMARY KEY, name "Name" NOT NULL);
CREATE TABLE production.culture (cultureid char(6) PRIMARY KEY, name "Name" NOT NULL);
CREATE TABLE production.location (locationid serial PRIMARY KEY, name "Name" NOT NULL, costrate numeric NOT NULL DEFAULT 0, availability numeric(8,2) NOT NULL DEFAULT 0);
CREATE TABLE production.scrapreason (scrapreasonid serial PRIMARY KEY, name "Name" NOT NULL);
CREATE TABLE production.illustration (illustrationid serial PRIMARY KEY, diagram xml);
CREATE TABLE production.productcategory (productcategoryid serial PRIMARY KEY, name "Name" NOT NULL);
CREATE TABLE production.productsubcategory (productsubcategoryid serial PRIMARY KEY, productcategoryid int NOT NULL REFERENCES production.productcategory, name "Name" NOT NULL);
CREATE TABLE production.productmodel (productmodelid serial PRIMARY KEY, name "Name" NOT NULL, catalogdescription xml, instructions xml);
CREATE TABLE production.productdescription (productdescriptionid serial PRIMARY KEY, description varchar(400) NOT NULL);
CREATE TABLE production.productphoto (productphotoid serial PRIMARY KEY, thumbnailphoto bytea, thumbnailphotofilename varchar(50), largephoto bytea,
  largephotofilename varchar(50));
CREATE TABLE production.product (productid serial PRIMARY KEY, name "Name" NOT NULL, productnumber varchar(25) NOT NULL, makeflag "Flag" NOT NULL DEFAULT true,
  finishedgoodsflag "Flag" NOT NULL DEFAULT true, color varchar(15), safetystocklevel smallint NOT NULL, reorderpoint smallint NOT NULL,
  standardcost numeric NOT NULL, listprice numeric NOT NULL, size varchar(5), sizeunitmeasurecode char(3) REFERENCES production.unitmeasure,
  weightunitmeasurecode char(3) REFERENCES production.unitmeasure, weight numeric(8,2), daystomanufacture int NOT NULL, productline char(2), class char(2),
  style char(2), productsubcategoryid int REFERENCES production.productsubcategory, productmodelid int REFERENCES production.productmodel,
  sellstartdate timestamp NOT NULL, sellenddate timestamp, discontinueddate timestamp);
CREATE TABLE production.billofmaterials (billofmaterialsid serial PRIMARY KEY, productassemblyid int REFERENCES production.product, componentid int NOT NULL
  REFERENCES production.product, startdate timestamp NOT NULL DEFAULT now(), enddate timestamp, unitmeasurecode char(3) NOT NULL REFERENCES production.unitmeasure,
  bomlevel smallint NOT NULL, perassemblyqty numeric(8,2) NOT NULL DEFAULT 1);
CREATE TABLE production.document (title varchar(50) NOT NULL, owner int NOT NULL REFERENCES humanresources.employee, folderflag "Flag" NOT NULL DEFAULT false,
  filename varchar(400) NOT NULL, fileextension varchar(8), revision char(5) NOT NULL, changenumber int NOT NULL DEFAULT 0, status smallint NOT NULL,
  documentsummary text, document bytea, documentnode varchar DEFAULT '/' PRIMARY KEY);
CREATE TABLE production.productcosthistory (productid int REFERENCES production.product, startdate timestamp, enddate timestamp, standardcost numeric NOT NULL,
  PRIMARY KEY (productid, startdate));
CREATE TABLE production.productdocument (productid int REFERENCES production.product, documentnode varchar DEFAULT '/' REFERENCES production.document,
  PRIMARY KEY (productid, documentnode));
CREATE TABLE production.productinventory (productid int REFERENCES production.product, locationid smallint REFERENCES production.location, shelf varchar(10) NOT NULL,
  bin smallint NOT NULL, quantity smallint NOT NULL DEFAULT 0, PRIMARY KEY (productid, locationid));
CREATE TABLE production.productlistpricehistory (productid int REFERENCES production.product, startdate timestamp, enddate timestamp, listprice numeric NOT NULL,
  PRIMARY KEY (productid, startdate));
CREATE TABLE production.productmodelillustration (productmodelid int REFERENCES production.productmodel, illustrationid int REFERENCES production.illustration,
  PRIMARY KEY (productmodelid, illustrationid));
CREATE TABLE production.productmodelproductdescriptionculture (productmodelid int REFERENCES production.productmodel, productdescriptionid int
  REFERENCES production.productdescription, cultureid char(6) REFERENCES production.culture, PRIMARY KEY (productmodelid, productdescriptionid, cultureid));
CREATE TABLE production.productproductphoto (productid int REFERENCES production.product, productphotoid int REFERENCES production.productphoto,
  "primary" "Flag" NOT NULL DEFAULT false, PRIMARY KEY (productid, productphotoid));
CREATE TABLE production.productreview (productreviewid serial PRIMARY KEY, productid int NOT NULL REFERENCES production.product, reviewername "Name" NOT NULL,
  reviewdate timestamp NOT NULL DEFAULT now(), emailaddress varchar(50) NOT NULL, rating int NOT NULL CHECK (rating >= 0), comments varchar(3850));
CREATE TABLE production.transactionhistory (transactionid serial PRIMARY KEY, productid int NOT NULL REFERENCES production.product, referenceorderid int NOT NULL,
  referenceorderlineid int NOT NULL DEFAULT 0, transactiondate timestamp NOT NULL DEFAULT now(), transactiontype char(1) NOT NULL, quantity int NOT NULL,
  actualcost numeric NOT NULL);
CREATE TABLE production.transactionhistoryarchive (transactionid int PRIMARY KEY, productid int NOT NULL, referenceorderid int NOT NULL, referenceorderlineid int
  NOT NULL DEFAULT 0, transactiondate timestamp NOT NULL DEFAULT now(), transactiontype char(1) NOT NULL, quantity int NOT NULL, actualcost numeric NOT NULL);
CREATE TABLE production.workorder (workorderid serial PRIMARY KEY, productid int NOT NULL REFERENCES production.product, orderqty int NOT NULL, scrappedqty smallint
  NOT NULL, startdate timestamp NOT NULL, enddate timestamp, duedate timestamp NOT NULL, scrapreasonid smallint REFERENCES production.scrapreason);
CREATE TABLE production.workorderrouting (workorderid int REFERENCES production.workorder, productid int, operationsequence smallint, locationid smallint NOT NULL
  REFERENCES production.location, scheduledstartdate timestamp NOT NULL, scheduledenddate timestamp NOT NULL, actualstartdate timestamp, actualenddate timestamp,
  actualresourcehrs numeric(9,4), plannedcost numeric NOT NULL, actualcost numeric, PRIMARY KEY (workorderid, productid, operationsequence));

CREATE TABLE purchasing.shipmethod (shipmethodid serial PRIMARY KEY, name "Name" NOT NULL, shipbase numeric NOT NULL DEFAULT 0, shiprate numeric NOT NULL DEFAULT 0);
CREATE TABLE purchasing.vendor (businessentityid int PRIMARY KEY REFERENCES person.businessentity, accountnumber "AccountNumber" NOT NULL, name "Name" NOT NULL,
  creditrating smallint NOT NULL, preferredvendorstatus "Flag" NOT NULL DEFAULT true, activeflag "Flag" NOT NULL DEFAULT true, purchasingwebserviceurl varchar(1024));
CREATE TABLE purchasing.productvendor (productid int REFERENCES production.product, businessentityid int REFERENCES purchasing.vendor, averageleadtime int NOT NULL,
  standardprice numeric NOT NULL, lastreceiptcost numeric, lastreceiptdate timestamp, minorderqty int NOT NULL, maxorderqty int NOT NULL, onorderqty int,
  unitmeasurecode char(3) NOT NULL REFERENCES production.unitmeasure, PRIMARY KEY (productid, businessentityid));
CREATE TABLE purchasing.purchaseorderheader (purchaseorderid serial PRIMARY KEY, revisionnumber smallint NOT NULL DEFAULT 0, status smallint NOT NULL DEFAULT 1,
  employeeid int NOT NULL REFERENCES humanresources.employee, vendorid int NOT NULL REFERENCES purchasing.vendor, shipmethodid int NOT NULL
  REFERENCES purchasing.shipmethod, orderdate timestamp NOT NULL DEFAULT now(), shipdate timestamp, subtotal numeric NOT NULL DEFAULT 0,
  taxamt numeric NOT NULL DEFAULT 0, freight numeric NOT NULL DEFAULT 0);
CREATE TABLE purchasing.purchaseorderdetail (purchaseorderid int REFERENCES purchasing.purchaseorderheader, purchaseorderdetailid serial, duedate timestamp NOT NULL,
  orderqty smallint NOT NULL, productid int NOT NULL REFERENCES production.product, unitprice numeric NOT NULL, receivedqty numeric(8,2) NOT NULL,
  rejectedqty numeric(8,2) NOT NULL, PRIMARY KEY (purchaseorderid, purchaseorderdetailid));

CREATE TABLE sales.currency (currencycode char(3) PRIMARY KEY, name "Name" NOT NULL);
CREATE TABLE sales.countryregioncurrency (countryregioncode varchar(3) REFERENCES person.countryregion, currencycode char(3) REFERENCES sales.currency,
  PRIMARY KEY (countryregioncode, currencycode));
CREATE TABLE sales.creditcard (creditcardid serial PRIMARY KEY, cardtype varchar(50) NOT NULL, cardnumber varchar(25) NOT NULL, expmonth smallint NOT NULL,
  expyear smallint NOT NULL);
CREATE TABLE sales.currencyrate (currencyrateid serial PRIMARY KEY, currencyratedate timestamp NOT NULL, fromcurrencycode char(3) NOT NULL REFERENCES sales.currency,
  tocurrencycode char(3) NOT NULL REFERENCES sales.currency, averagerate numeric NOT NULL, endofdayrate numeric NOT NULL);
CREATE TABLE sales.personcreditcard (businessentityid int REFERENCES person.person, creditcardid int REFERENCES sales.creditcard,
  PRIMARY KEY (businessentityid, creditcardid));
CREATE TABLE sales.salesperson (businessentityid int PRIMARY KEY REFERENCES humanresources.employee, territoryid int REFERENCES sales.salesterritory,
  salesquota numeric, bonus numeric NOT NULL DEFAULT 0, commissionpct numeric NOT NULL DEFAULT 0, salesytd numeric NOT NULL DEFAULT 0, saleslastyear numeric NOT NULL DEFAULT 0);
CREATE TABLE sales.salespersonquotahistory (businessentityid int REFERENCES sales.salesperson, quotadate timestamp, salesquota numeric NOT NULL,
  PRIMARY KEY (businessentityid, quotadate));
CREATE TABLE sales.salesreason (salesreasonid serial PRIMARY KEY, name "Name" NOT NULL, reasontype "Name" NOT NULL);
CREATE TABLE sales.salestaxrate (salestaxrateid serial PRIMARY KEY, stateprovinceid int NOT NULL REFERENCES person.stateprovince, taxtype smallint NOT NULL,
  taxrate numeric NOT NULL DEFAULT 0, name "Name" NOT NULL);
CREATE TABLE sales.salesterritoryhistory (businessentityid int REFERENCES sales.salesperson, territoryid int REFERENCES sales.salesterritory, startdate timestamp,
  enddate timestamp, PRIMARY KEY (businessentityid, startdate, territoryid));
CREATE TABLE sales.specialoffer (specialofferid serial PRIMARY KEY, description varchar(255) NOT NULL, discountpct numeric NOT NULL DEFAULT 0, type varchar(50) NOT NULL,
  category varchar(50) NOT NULL, startdate timestamp NOT NULL, enddate timestamp NOT NULL, minqty int NOT NULL DEFAULT 0, maxqty int);
CREATE TABLE sales.specialofferproduct (specialofferid int REFERENCES sales.specialoffer, productid int REFERENCES production.product,
  PRIMARY KEY (specialofferid, productid));
CREATE TABLE sales.store (businessentityid int PRIMARY KEY REFERENCES person.businessentity, name "Name" NOT NULL, salespersonid int REFERENCES sales.salesperson,
  demographics xml);
CREATE TABLE sales.customer (customerid serial PRIMARY KEY, personid int REFERENCES person.person, storeid int REFERENCES sales.store, territoryid int
  REFERENCES sales.salesterritory);
CREATE TABLE sales.salesorderheader (salesorderid serial PRIMARY KEY, revisionnumber smallint NOT NULL DEFAULT 0, orderdate timestamp NOT NULL DEFAULT now(),
  duedate timestamp NOT NULL, shipdate timestamp, status smallint NOT NULL DEFAULT 1, onlineorderflag "Flag" NOT NULL DEFAULT true,
  purchaseordernumber "OrderNumber", accountnumber "AccountNumber", customerid int NOT NULL REFERENCES sales.customer, salespersonid int
  REFERENCES sales.salesperson, territoryid int REFERENCES sales.salesterritory, billtoaddressid int NOT NULL REFERENCES person.address, shiptoaddressid int
  NOT NULL REFERENCES person.address, shipmethodid int NOT NULL REFERENCES purchasing.shipmethod, creditcardid int REFERENCES sales.creditcard,
  creditcardapprovalcode varchar(15), currencyrateid int REFERENCES sales.currencyrate, subtotal numeric NOT NULL DEFAULT 0, taxamt numeric NOT NULL DEFAULT 0,
  freight numeric NOT NULL DEFAULT 0, totaldue numeric, comment varchar(128));
CREATE TABLE sales.salesorderdetail (salesorderid int REFERENCES sales.salesorderheader ON DELETE CASCADE, salesorderdetailid serial, carriertrackingnumber varchar(25),
  orderqty smallint NOT NULL, productid int NOT NULL, specialofferid int NOT NULL, unitprice numeric NOT NULL, unitpricediscount numeric NOT NULL DEFAULT 0,
  PRIMARY KEY (salesorderid, salesorderdetailid), FOREIGN KEY (specialofferid, productid) REFERENCES sales.specialofferproduct);
CREATE TABLE sales.salesorderheadersalesreason (salesorderid int REFERENCES sales.salesorderheader ON DELETE CASCADE, salesreasonid int REFERENCES sales.salesreason,
  PRIMARY KEY (salesorderid, salesreasonid));
CREATE TABLE sales.shoppingcartitem (shoppingcartitemid serial PRIMARY KEY, shoppingcartid varchar(50) NOT NULL, quantity int NOT NULL DEFAULT 1, productid int
  NOT NULL REFERENCES production.product, datecreated timestamp NOT NULL DEFAULT now());

-- Columns that every table has, or many.
DO $$ DECLARE t record; BEGIN
  FOR t IN SELECT format('%I.%I', schemaname, tablename) AS name, tablename ~ ('^(address|addresstype|businessentity|businessentityaddress|businessentitycontact|'
    'emailaddress|password|person|stateprovince|employee|billofmaterials|document|product|productcategory|productdescription|productmodel|productsubcategory|'
    'customer|salesorderdetail|salesorderheader|salesperson|salespersonquotahistory|salestaxrate|salesterritory|salesterritoryhistory|specialoffer|'
    'specialofferproduct|store|shipmethod)$') AS has_guid
    FROM pg_tables WHERE schemaname IN ('person', 'humanresources', 'production', 'purchasing', 'sales')
  LOOP
    IF t.has_guid THEN EXECUTE format('ALTER TABLE %s ADD rowguid uuid NOT NULL DEFAULT gen_random_uuid()', t.name); END IF;
    EXECUTE format('ALTER TABLE %s ADD modifieddate timestamp NOT NULL DEFAULT now()', t.name);
  END LOOP;
END $$;

CREATE VIEW person.vadditionalcontactinfo AS SELECT businessentityid, firstname, middlename, lastname, (xpath('/a/text()', additionalcontactinfo))[1] AS note,
  rowguid, modifieddate FROM person.person WHERE additionalcontactinfo IS NOT NULL;
CREATE MATERIALIZED VIEW person.vstateprovincecountryregion AS SELECT sp.stateprovinceid, sp.stateprovincecode, sp.isonlystateprovinceflag, sp.name AS stateprovincename,
  sp.territoryid, cr.countryregioncode, cr.name AS countryregionname FROM person.stateprovince sp JOIN person.countryregion cr USING (countryregioncode);
CREATE UNIQUE INDEX ON person.vstateprovincecountryregion (stateprovinceid, countryregioncode);
CREATE VIEW humanresources.vemployee AS SELECT e.businessentityid, p.title, p.firstname, p.lastname, e.jobtitle, ea.emailaddress, p.emailpromotion
  FROM humanresources.employee e JOIN person.person p USING (businessentityid) LEFT JOIN person.emailaddress ea USING (businessentityid);
CREATE VIEW humanresources.vemployeedepartment AS SELECT e.businessentityid, p.firstname, p.lastname, d.name AS department, d.groupname, h.startdate
  FROM humanresources.employee e JOIN person.person p USING (businessentityid) JOIN humanresources.employeedepartmenthistory h USING (businessentityid)
  JOIN humanresources.department d USING (departmentid) WHERE h.enddate IS NULL;
CREATE VIEW humanresources.vemployeedepartmenthistory AS SELECT h.businessentityid, s.name AS shift, d.name AS department, h.startdate, h.enddate
  FROM humanresources.employeedepartmenthistory h JOIN humanresources.department d USING (departmentid) JOIN humanresources.shift s USING (shiftid);
CREATE VIEW humanresources.vjobcandidate AS SELECT jobcandidateid, businessentityid, resume, modifieddate FROM humanresources.jobcandidate;
CREATE MATERIALIZED VIEW production.vproductanddescription AS SELECT p.productid, p.name, pm.name AS productmodel, c.cultureid, d.description FROM production.product p
  JOIN production.productmodel pm USING (productmodelid) JOIN production.productmodelproductdescriptionculture c USING (productmodelid)
  JOIN production.productdescription d USING (productdescriptionid);
CREATE VIEW production.vproductmodelcatalogdescription AS SELECT productmodelid, name, catalogdescription::text AS summary FROM production.productmodel;
CREATE VIEW purchasing.vvendorwithaddresses AS SELECT v.businessentityid, v.name, t.name AS addresstype, a.addressline1, a.city FROM purchasing.vendor v
  JOIN person.businessentityaddress USING (businessentityid) JOIN person.address a USING (addressid) JOIN person.addresstype t USING (addresstypeid);
CREATE VIEW purchasing.vvendorwithcontacts AS SELECT v.businessentityid, v.name, t.name AS contacttype, p.firstname, p.lastname FROM purchasing.vendor v
  JOIN person.businessentitycontact b USING (businessentityid) JOIN person.contacttype t USING (contacttypeid) JOIN person.person p ON p.businessentityid = b.personid;
CREATE VIEW sales.vindividualcustomer AS SELECT c.customerid, p.businessentityid, p.firstname, p.lastname, p.demographics FROM sales.customer c
  JOIN person.person p ON p.businessentityid = c.personid;
CREATE VIEW sales.vpersondemographics AS SELECT businessentityid, demographics, emailpromotion FROM person.person;
CREATE VIEW sales.vsalesperson AS SELECT s.businessentityid, p.firstname, p.lastname, e.jobtitle, t.name AS territoryname, s.salesquota, s.salesytd
  FROM sales.salesperson s JOIN humanresources.employee e USING (businessentityid) JOIN person.person p USING (businessentityid)
  LEFT JOIN sales.salesterritory t USING (territoryid);
CREATE VIEW sales.vsalespersonsalesbyfiscalyears AS SELECT s.businessentityid AS salespersonid, p.firstname, sum(h.subtotal) FILTER (WHERE h.status > 0) AS total,
  count(h.salesorderid) AS orders, avg(h.freight) AS freight FROM sales.salesperson s JOIN person.person p USING (businessentityid)
  LEFT JOIN sales.salesorderheader h ON h.salespersonid = s.businessentityid GROUP BY 1, 2;
CREATE VIEW sales.vstorewithaddresses AS SELECT s.businessentityid, s.name, t.name AS addresstype, a.city, a.postalcode FROM sales.store s
  JOIN person.businessentityaddress USING (businessentityid) JOIN person.address a USING (addressid) JOIN person.addresstype t USING (addresstypeid);
CREATE VIEW sales.vstorewithdemographics AS SELECT businessentityid, name, demographics::text AS demographics FROM sales.store;
CREATE VIEW production.p AS SELECT productid AS id, * FROM production.product;
CREATE VIEW sales.sod AS SELECT salesorderdetailid AS id, * FROM sales.salesorderdetail;
CREATE VIEW person.pp AS SELECT businessentityid AS id, * FROM person.personphone;
CREATE VIEW humanresources.edh AS SELECT businessentityid AS id, * FROM humanresources.employeedepartmenthistory;
