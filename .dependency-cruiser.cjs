/**
 * Import directions. The table itself is tools/imports/table.json (ARCHITECTURE.md draws it; a test compares the two);
 * this file turns it into rules. `npm run check` asserts that every source file was seen, and
 * tools/tests/imports.test.ts plants one violation per rule.
 *
 * Run from the root of the tree that is looked at: package.json files are read from the working directory, so that the
 * planted tree of the test is judged by its own.
 */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { mayImport, onlyFrom } = require('./tools/imports/table.json');

const rooms = Object.keys(mayImport);
const roomOf = '(packages/[^/]+|acceptance|bench)';
const anyOf = (paths) => `^(${paths.join('|')})/`;

/** It ships as one bundle that needs nothing installed: what goes into the bundle is a dependency of its build. */
const BUNDLED = 'packages/client';

function declaredRooms(room) {
  const manifest = JSON.parse(readFileSync(join(process.cwd(), room, 'package.json'), 'utf8'));
  return Object.keys({ ...manifest.dependencies, ...(room === BUNDLED ? manifest.devDependencies : {}) })
    .filter((name) => name.startsWith('@qim/'))
    .map((name) => `packages/${name.slice('@qim/'.length)}`);
}

const directions = rooms.map((room) => ({
  name: `direction-${room.replace('packages/', '')}`,
  comment: `${room} may import ${mayImport[room].join(', ') || 'no other package'}: move the code, or pass the value in as an argument`,
  severity: 'error',
  from: { path: `^${room}/src/` },
  to: { path: `^${roomOf}/`, pathNot: anyOf([room, ...mayImport[room]]) },
}));

const undeclared = rooms.map((room) => ({
  name: `undeclared-${room.replace('packages/', '')}`,
  comment: `npm hoists, so it compiles and runs: add the package to "dependencies" of ${room}/package.json`,
  severity: 'error',
  from: { path: `^${room}/src/` },
  to: { path: anyOf(mayImport[room].length > 0 ? mayImport[room] : ['none']), pathNot: anyOf([room, ...declaredRooms(room)]) },
}));

const backDoors = Object.entries(onlyFrom).map(([target, from]) => ({
  name: `only-from-${target.split('/').at(-2)}`,
  comment: `only ${from.join(', ') || 'tests'} may name it: take the contracts of @qim/store, and let openStore choose the backend`,
  severity: 'error',
  from: { path: `^${roomOf}/src/`, pathNot: ['^packages/store/src/', ...from] },
  to: { path: `^${target.replaceAll('.', '\\.')}$` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...directions,
    ...undeclared,
    ...backDoors,
    {
      name: 'no-circle',
      comment: 'move what both need into a third file',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'past-exports',
      comment: 'reach another package by its name, not by a path into it; tests may share the support of tests',
      severity: 'error',
      from: { path: `^${roomOf}/` },
      to: { path: `^${roomOf}/`, pathNot: ['^$1/', `^${roomOf}/tests/`], dependencyTypes: ['local'] },
    },
    {
      name: 'src-stays-inside',
      comment: 'what a package ships imports no test, tool or script',
      severity: 'error',
      from: { path: `^${roomOf}/src/` },
      to: { path: `^(tools|scripts|${roomOf}/tests)/` },
    },
    {
      name: 'unresolvable',
      comment: 'no such file, package, or entry in the exports of the package',
      severity: 'error',
      // The command's entry names what the build makes.
      from: { pathNot: '^packages/cli/bin/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'undeclared-npm',
      comment: 'add it to "dependencies" of this package, with its exact version',
      severity: 'error',
      // Suites run under the test runner of the root, and are not exported.
      from: { path: `^${roomOf}/src/`, pathNot: '^packages/store/src/testing/(conformance|model)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['npm-peer'], pathNot: '^node_modules/@types/node/' },
    },
    {
      name: 'dev-only',
      comment: 'what ships needs it at run time: move it from "devDependencies" to "dependencies"',
      severity: 'error',
      from: { path: `^${roomOf}/src/`, pathNot: `^(packages/(store/src/testing|web/src)|${BUNDLED}/src)/` },
      // A peer is whoever installs it to bring, and is there for tests.
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm-peer'] },
    },
    {
      name: 'driver-outside-its-backend',
      comment:
        'only the backend of that store speaks its protocol (and the bench, which measures against it): go through the contracts of @qim/store',
      severity: 'error',
      from: { path: `^${roomOf}/src/`, pathNot: '^(packages/store/src/(redis|embedded|testing)|bench/src)/' },
      to: { path: '^node_modules/(redis|@redis/[^/]+|lmdb)/' },
    },
    {
      name: 'no-node-in-browser-code',
      comment: 'proto, client and web run in browsers too, and proto does no I/O: take what is needed as an argument',
      severity: 'error',
      from: { path: '^packages/(proto|client|web)/src/' },
      to: { dependencyTypes: ['core'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: `^${roomOf}/(dist|dist-types)/` },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@qim/source', 'import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
