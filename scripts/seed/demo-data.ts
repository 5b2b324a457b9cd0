import { pngBlob } from '../support/request.js';
import { type Color, gradient } from './picture.js';

/*
 * The people and posts of the demo. The examples in `openapi.yaml` use their names, ids and password, except that of a registration,
 * which must not take the name of an existing account.
 */

export const DEMO_PASSWORD = 'Teal-Lantern_58';
export const FIRST_PERSON_ID = 7;
export const FIRST_POST_ID = 34;
/** The names of the image of Tomas' last post, and of his picture. */
export const POST_IMAGE = '3f9c1d7ae05b4286b1c4d2e97a60f385.png';
export const PROFILE_PICTURE = 'd47b90e6c35f4e18b02a9f6c8e71d5a3.png';

export type Name = 'mira' | 'jonas' | 'hana' | 'kofi' | 'lena' | 'tomas.reyes';

interface DemoPerson {
  name: string;
  username: Name;
  email: string;
  private?: boolean;
  picture?: Blob;
}

interface DemoPost {
  author: Name;
  title: string;
  text: string;
  image?: Blob;
  likes: readonly Name[];
}

const picture = (...colors: [top: Color, bottom: Color]) => pngBlob(gradient(480, 320, ...colors));

/** The people in the order of their ids. */
export const PEOPLE: readonly DemoPerson[] = [
  { name: 'Mira Solheim', username: 'mira', email: 'mira.solheim@example.org' },
  { name: 'Jonas Lind', username: 'jonas', email: 'jonas.lind@example.org' },
  {
    name: 'Hana Kim',
    username: 'hana',
    email: 'hana.kim@example.org',
    picture: picture([240, 170, 90], [90, 60, 120]),
  },
  { name: 'Kofi Mensah', username: 'kofi', email: 'kofi.mensah@example.org', private: true },
  { name: 'Lena Bauer', username: 'lena', email: 'lena.bauer@example.org' },
  {
    name: 'Tomas Reyes',
    username: 'tomas.reyes',
    email: 'tomas.reyes@example.org',
    private: true,
    picture: picture([250, 220, 150], [180, 90, 40]),
  },
];

/** The posts in the order of their ids. */
export const POSTS: readonly DemoPost[] = [
  { author: 'lena', title: 'New here', text: 'Is anybody else up this early?', likes: ['mira', 'jonas'] },
  { author: 'kofi', title: 'For friends only', text: 'My account is private. Only friends see this.', likes: ['lena'] },
  {
    author: 'hana',
    title: 'Sunset from the tram',
    text: 'Line 7, last stop.',
    image: picture([250, 150, 80], [40, 40, 90]),
    likes: ['jonas', 'lena', 'kofi'],
  },
  { author: 'jonas', title: 'Lost glove', text: 'Left hand, grey, by the harbour. Reward: coffee.', likes: [] },
  { author: 'tomas.reyes', title: 'Bread, first attempt', text: 'A brick.', likes: ['mira'] },
  { author: 'tomas.reyes', title: 'Bread, second attempt', text: 'A softer brick.', likes: [] },
  { author: 'lena', title: 'Found: one grey glove', text: 'Jonas, you owe me a coffee.', likes: ['jonas', 'hana'] },
  {
    author: 'hana',
    title: 'Fog',
    text: 'There is a bridge in this picture.',
    image: picture([200, 205, 210], [150, 160, 170]),
    likes: [],
  },
  {
    author: 'mira',
    title: 'First swim of the year',
    text: 'Four degrees in the water. Worth it.',
    likes: ['lena'],
  },
  {
    author: 'tomas.reyes',
    title: 'Bread, third attempt',
    text: 'It has risen. I am not sure what I did differently.',
    image: picture([235, 200, 140], [120, 70, 30]),
    likes: ['mira'],
  },
];

export const FRIENDS: readonly (readonly [Name, Name])[] = [
  ['mira', 'tomas.reyes'],
  ['mira', 'lena'],
  ['jonas', 'lena'],
  ['kofi', 'lena'],
  ['kofi', 'hana'],
];

/** The pending friend requests. */
export const REQUESTS: readonly (readonly [from: Name, to: Name])[] = [['hana', 'mira']];
