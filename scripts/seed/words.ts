import type { Random } from './random.js';

const words = (text: string) => text.split(' ');

const FIRST = words(
  'Ada Amir Anna Aya Ben Bo Chloe Dara Diego Elif Emil Farah Finn Grace Hana Ivo Jada Jonas Kofi Lena Liam Mei Mira Noor Omar Pia Ravi Rosa Sami Tara Uma Zoe',
);
const LAST = words(
  'Adeyemi Bauer Castro Dahl Eriksen Fischer Garcia Haddad Ibarra Jansen Kim Lind Mensah Novak Okafor Patel Quist Rossi Santos Tanaka Ueda Vargas Weber Yilmaz',
);
const TITLE = words(
  'Morning Harbour Quiet Garden Letter Winter Summer Train Market River Window Bread Music Rain Light Road',
);
const TEXT = words(
  'a and the of in on with we they it was is had saw found made took walked along under over between street river market garden bread coffee letter music light rain wind boat train window friend evening morning again never always almost slowly quietly together',
);

const pickWord = (random: Random, from: readonly string[]) => from[random(from.length)] ?? '';
const pickWords = (random: Random, from: readonly string[], count: number) =>
  Array.from({ length: count }, () => pickWord(random, from)).join(' ');

export function fullName(random: Random): string {
  return `${pickWord(random, FIRST)} ${pickWord(random, LAST)}`;
}

export const title = (random: Random): string => pickWords(random, TITLE, 2 + random(3));

export const text = (random: Random): string => `${pickWords(random, TEXT, 10 + random(30))}.`;
