/** Routes that no resource has: sign in, follow, like, comment, and the tags. */
import { IsEmail, IsString } from 'class-validator';
import { crudController, InjectId, InjectRepository, Repository } from 'crud-controllers';
import { Body, Delete, Get, HttpCode, Post, Req, UnauthorizedError } from 'routing-controllers';
import { QueryTypes } from 'sequelize';
import { me, type SignedRequest } from './access.js';
import { Article, Comment, Follow, Like, User } from './models.js';
import { isPassword } from './sign-in.js';

const users = new Repository(User);
const articles = new Repository(Article);

class LogIn {
  @IsEmail() declare email: string;
  @IsString() declare password: string;
}

class CommentForm {
  @IsString() declare body: string;
}

export class UserController extends crudController(User) {
  @Post('/login')
  @HttpCode(200)
  async logIn(@Body() { email, password }: LogIn) {
    const user = await User.findOne({ where: { email } });
    if (user && (await isPassword(password, user.password))) return user;
    throw new UnauthorizedError('There is no such user, or the password is another one.');
  }

  @Post('/:id/follow')
  @HttpCode(200)
  async follow(@InjectId() name: string, @Req() request: SignedRequest) {
    const [followerId, user] = [me(request), await users.get(name)];
    await Follow.bulkCreate([{ followerId, followedId: user.id }], { ignoreDuplicates: true });
    return user;
  }

  @Delete('/:id/follow')
  async unfollow(@InjectId() name: string, @Req() request: SignedRequest) {
    const [followerId, user] = [me(request), await users.get(name)];
    await Follow.destroy({ where: { followerId, followedId: user.id } });
    return user;
  }
}

export class ArticleController extends crudController(Article) {
  @Get('/tags')
  async tags() {
    const text = 'SELECT DISTINCT unnest("tagList") AS tag FROM articles ORDER BY tag';
    const rows = await Article.sequelize?.query<{ tag: string }>(text, { type: QueryTypes.SELECT });
    return { tags: rows?.map(({ tag }) => tag) };
  }

  @Post('/:id/favorite')
  @HttpCode(200)
  async like(@InjectId() slug: string, @Req() request: SignedRequest) {
    const [userId, article] = [me(request), await articles.get(slug)];
    await Like.bulkCreate([{ userId, articleId: article.id }], { ignoreDuplicates: true });
    return article;
  }

  @Delete('/:id/favorite')
  async unlike(@InjectId() slug: string, @Req() request: SignedRequest) {
    const [userId, article] = [me(request), await articles.get(slug)];
    await Like.destroy({ where: { userId, articleId: article.id } });
    return article;
  }

  @Post('/:id/comments')
  @HttpCode(201)
  async comment(
    @InjectId() slug: string,
    @Body() { body }: CommentForm,
    @InjectRepository(Comment) comments: Repository<Comment>,
    @Req() request: SignedRequest,
  ) {
    const [authorId, article] = [me(request), await articles.get(slug)];
    return comments.create({ body, articleId: article.id, authorId });
  }
}
