// A scan of one row of HBase through Apache's thrift package: the few calls of Hbase.thrift that it
// takes, in the form of the code that Apache's compiler makes.
const thrift = require('thrift');

const { Thrift } = thrift;
const CONNECTIONS = 8;

function writeScan(output, scan) {
  output.writeStructBegin('TScan');
  for (const [name, type, id] of [
    ['startRow', Thrift.Type.STRING, 1],
    ['stopRow', Thrift.Type.STRING, 2],
    ['caching', Thrift.Type.I32, 5],
    ['batchSize', Thrift.Type.I32, 7],
    ['sortColumns', Thrift.Type.BOOL, 8],
  ]) {
    output.writeFieldBegin(name, type, id);
    if (type === Thrift.Type.STRING) output.writeBinary(scan[name]);
    else if (type === Thrift.Type.I32) output.writeI32(scan[name]);
    else output.writeBool(scan[name]);
    output.writeFieldEnd();
  }
  output.writeFieldStop();
  output.writeStructEnd();
}

// Reads a struct: `read` has a function for each field's number; other fields are skipped.
function readStruct(input, read) {
  input.readStructBegin();
  for (;;) {
    const { ftype, fid } = input.readFieldBegin();
    if (ftype === Thrift.Type.STOP) break;
    if (read[fid]) read[fid]();
    else input.skip(ftype);
    input.readFieldEnd();
  }
  input.readStructEnd();
}

function readList(input, readEach) {
  const { size } = input.readListBegin();
  const found = new Array(size);
  for (let at = 0; at < size; at += 1) found[at] = readEach(input);
  input.readListEnd();
  return found;
}

function readCell(input) {
  let value;
  readStruct(input, { 1: () => { value = input.readBinary(); }, 2: () => input.readI64() });
  return value;
}

function readColumn(input) {
  const column = {};
  readStruct(input, {
    1: () => { column.name = input.readBinary(); },
    2: () => { column.value = readCell(input); },
  });
  return column;
}

function readRow(input) {
  let columns = [];
  readStruct(input, {
    1: () => input.readBinary(),
    3: () => { columns = readList(input, readColumn); },
  });
  return columns;
}

class HbaseClient {
  constructor(output, pClass) {
    this.output = output;
    this.pClass = pClass;
    this._seqid = 0;
    this._reqs = {};
  }

  call(name, writeArguments) {
    return new Promise((resolve, reject) => {
      this._seqid += 1;
      this._reqs[this._seqid] = (error, result) => (error ? reject(error) : resolve(result));
      const output = new this.pClass(this.output);
      output.writeMessageBegin(name, Thrift.MessageType.CALL, this._seqid);
      output.writeStructBegin(`${name}_args`);
      writeArguments(output);
      output.writeFieldStop();
      output.writeStructEnd();
      output.writeMessageEnd();
      this.output.flush();
    });
  }

  answer(input, type, sequence, readSuccess) {
    const callback = this._reqs[sequence];
    delete this._reqs[sequence];
    if (type === Thrift.MessageType.EXCEPTION) {
      const failure = new Thrift.TApplicationException();
      failure.read(input);
      input.readMessageEnd();
      return callback(failure);
    }
    let success;
    let failure = null;
    const fail = () => {
      readStruct(input, { 1: () => { failure = new Error(input.readString()); } });
    };
    readStruct(input, { 0: () => { success = readSuccess(input); }, 1: fail, 2: fail });
    input.readMessageEnd();
    return callback(failure, success);
  }

  recv_scannerOpenWithScan(input, type, sequence) {
    this.answer(input, type, sequence, () => input.readI32());
  }

  recv_scannerGetList(input, type, sequence) {
    this.answer(input, type, sequence, () => readList(input, readRow));
  }

  recv_scannerClose(input, type, sequence) {
    this.answer(input, type, sequence, () => null);
  }

  // The first columns of a row, in order: two round trips, as the next requests need the number.
  async row(table, row, limit) {
    const stopRow = Buffer.concat([row, Buffer.from([0])]);
    const scan = { startRow: row, stopRow, caching: 1, batchSize: limit, sortColumns: true };
    const id = await this.call('scannerOpenWithScan', (output) => {
      output.writeFieldBegin('tableName', Thrift.Type.STRING, 1);
      output.writeBinary(table);
      output.writeFieldEnd();
      output.writeFieldBegin('scan', Thrift.Type.STRUCT, 2);
      writeScan(output, scan);
      output.writeFieldEnd();
      output.writeFieldBegin('attributes', Thrift.Type.MAP, 3);
      output.writeMapBegin(Thrift.Type.STRING, Thrift.Type.STRING, 0);
      output.writeMapEnd();
      output.writeFieldEnd();
    });
    const writeId = (output) => {
      output.writeFieldBegin('id', Thrift.Type.I32, 1);
      output.writeI32(id);
      output.writeFieldEnd();
    };
    const [rows] = await Promise.all([
      this.call('scannerGetList', (output) => {
        writeId(output);
        output.writeFieldBegin('nbRows', Thrift.Type.I32, 2);
        output.writeI32(1);
        output.writeFieldEnd();
      }),
      this.call('scannerClose', writeId),
    ]);
    return rows.length ? rows[0] : [];
  }
}

// Connections that take turns. `row(table, row, limit)` gives the first columns of a row.
module.exports = function open(host, port) {
  const options = { transport: thrift.TBufferedTransport, protocol: thrift.TBinaryProtocol };
  const clients = Array.from({ length: CONNECTIONS }, () => {
    const connection = thrift.createConnection(host, port, options);
    connection.on('error', (error) => { throw error; });
    return thrift.createClient(HbaseClient, connection);
  });
  let turn = 0;
  return {
    row(table, row, limit) {
      turn = (turn + 1) % CONNECTIONS;
      return clients[turn].row(table, row, limit);
    },
  };
};
