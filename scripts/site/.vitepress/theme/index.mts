/** The theme of VitePress, with room for answers and tables. */
import DefaultTheme from 'vitepress/theme';
import './style.css';

export default DefaultTheme;
