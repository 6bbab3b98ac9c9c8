/** A curve as an SVG of its own: both axes logarithmic, no script, readable on a light and a dark page. */
import type { Curve } from '../result.js';
import { rounded } from './terminal.js';

const [WIDTH, HEIGHT] = [640, 320];
const MARGIN = { left: 70, right: 20, top: 40, bottom: 50 };
const COLOURS = ['#2563eb', '#d97706', '#059669'];
const GREY = '#7a7a7a';

export function curveSvg({ title, xLabel, yLabel, series }: Curve): string {
  const points = series.flatMap((each) => each.points);
  const x = scaleOf(
    points.map(([value]) => value),
    MARGIN.left,
    WIDTH - MARGIN.right,
  );
  const y = scaleOf([...points.map(([, value]) => value / 2), ...points.map(([, value]) => value * 2)], HEIGHT - MARGIN.bottom, MARGIN.top);
  const parts = [
    text(WIDTH / 2, 20, title, 15),
    text(WIDTH / 2, HEIGHT - 10, xLabel, 12),
    `<text x="16" y="${HEIGHT / 2}" font-size="12" text-anchor="middle" transform="rotate(-90 16 ${HEIGHT / 2})">${yLabel}</text>`,
    line(
      [
        [MARGIN.left, HEIGHT - MARGIN.bottom],
        [WIDTH - MARGIN.right, HEIGHT - MARGIN.bottom],
      ],
      GREY,
      1,
    ),
    line(
      [
        [MARGIN.left, MARGIN.top],
        [MARGIN.left, HEIGHT - MARGIN.bottom],
      ],
      GREY,
      1,
    ),
    ...points.map(([value]) => text(x(value), HEIGHT - MARGIN.bottom + 18, rounded(value).replace(/\.0+$/, ''), 11)),
  ];
  for (const [i, each] of series.entries()) {
    const colour = COLOURS[i % COLOURS.length] ?? GREY;
    parts.push(
      line(
        each.points.map(([px, py]) => [x(px), y(py)]),
        colour,
        2,
      ),
    );
    for (const [px, py] of each.points) {
      parts.push(
        `<circle cx="${x(px).toFixed(1)}" cy="${y(py).toFixed(1)}" r="3.5" fill="${colour}"/>`,
        text(x(px), y(py) - 10, `${rounded(py)} ms`, 11),
      );
    }
  }
  const frame = `xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" fill="${GREY}" role="img"`;
  return `<svg ${frame}>\n<title>${title}</title>\n${parts.join('\n')}\n</svg>\n`;
}

function scaleOf(values: readonly number[], from: number, to: number): (value: number) => number {
  const [least, most] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  return (value) => (most === least ? (from + to) / 2 : from + ((Math.log(value) - least) / (most - least)) * (to - from));
}

function text(x: number, y: number, content: string, size: number): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" text-anchor="middle">${content}</text>`;
}

function line(points: readonly (readonly [number, number])[], colour: string, width: number): string {
  const path = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(' ');
  return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="${width}"/>`;
}
